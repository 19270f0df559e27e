# SPDX-License-Identifier: Apache-2.0
"""The estimator on the data of its filter's authors: Cassie walks 10 s, with inertia, encoders, contacts and the truth.

The data are `src/examples_matlab/data` of https://github.com/RossHartley/invariant-ekf, the robot is
`urdf/cassie.urdf` of https://github.com/UMich-BipedLab/Cassie_Model (both BSD 3-clause); neither is part of the
stack. `pip install h5py` reads the files. Cassie falls onto its feet at first; the estimator begins where --start says,
without the truth. Contacts are told as probabilities, toes are points, velocities of joints aren't measured.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path

import h5py  # type: ignore[import-not-found]
import numpy as np
import pinocchio as pin

from humanoid_control.estimation import Estimator, EstimatorSettings
from humanoid_model import Robot, load_robot
from humanoid_model.controller import Measurement

PERIOD = 5e-4
JOINTS = ("hip_abduction", "hip_rotation", "hip_flexion", "knee_joint", "knee_to_shin", "ankle_joint", "toe_joint")
FILE = """
floating_base: true
contacts:
  left_toe: {link: left_toe, xyz: [0.0177, 0.0522, 0], patch: [[0, 0]]}
  right_toe: {link: right_toe, xyz: [0.0177, 0.0522, 0], patch: [[0, 0]]}
sensors:
  imu: {type: imu, link: vectorNav, rpy: [3.14159265359, 0, 0]}
"""
SETTINGS = EstimatorSettings(
    contacts=("left_toe", "right_toe"), gyro_noise=2e-3, force_noise=4e-2, gyro_bias_walk=1e-3, force_bias_walk=1e-3,
    encoder_noise=math.radians(0.1), contact_drift=0.03, contact_speed=0.2,
)  # fmt: skip


def load_cassie(urdf: Path) -> Robot:
    """Return Cassie with its sensor and its toes."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "cassie.urdf"
        place.write_bytes(urdf.read_bytes())
        place.with_suffix(".yaml").write_text(FILE)
        return load_robot(place, geometry=False)


def series(path: Path) -> np.ndarray:
    """Return the numbers of a time series that Matlab saved, the time along the first axis."""
    with h5py.File(path) as file:
        arrays = [item for item in file["#refs#"].values() if isinstance(item, h5py.Dataset) and item.dtype == "f8"]
        values = np.array(max(arrays, key=lambda item: item.size))
    return values.T if values.ndim == 2 else values.transpose(0, 2, 1)


def main() -> None:
    """Run it and print errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="src/examples_matlab/data of the authors' repository")
    parser.add_argument("urdf", type=Path, help="urdf/cassie.urdf of Cassie_Model")
    parser.add_argument("--start", type=float, default=1.0, help="when the estimator begins [s]")
    arguments = parser.parse_args()
    told = {
        name: series(arguments.data / f"measurements/{name}.mat")
        for name in ("angular_velocity", "linear_acceleration", "encoders", "contact")
    }
    kinds = ("orientation", "position", "velocity")
    truth = {name: series(arguments.data / f"ground_truth/{name}.mat") for name in kinds}
    robot = load_cassie(arguments.urdf)
    estimator = Estimator(robot, SETTINGS)
    names = [f"{joint}_{side}" for side in ("left", "right") for joint in JOINTS]
    order = [names.index(name) for name in estimator.joint_names]
    skipped = round(arguments.start / PERIOD)
    tilts, slips, seconds, faults, way = [], [], [], 0, 0.0
    first: tuple[pin.SE3, pin.SE3] | None = None
    for k in range(skipped, len(told["encoders"])):
        measurement = Measurement(
            PERIOD * k, told["encoders"][k, order], None, told["angular_velocity"][k], told["linear_acceleration"][k],
            contacts={"left_toe": told["contact"][k, 0], "right_toe": told["contact"][k, 1]},
        )  # fmt: skip
        clock = time.process_time()
        estimate = estimator.update(PERIOD * k, measurement)
        seconds.append(time.process_time() - clock)
        assert estimate is not None
        faults += len(estimate.faults)
        own, real = pin.SE3(estimate.imu[:3], estimate.imu[3]), pin.SE3(truth["orientation"][k], truth["position"][k])
        if k < skipped + 2000:
            first = own, real
            continue
        between = estimate.placement_world_base.actInv(own)
        moved = between.actInv(pin.Motion(estimate.v[:6])).linear
        slips.append(moved - real.rotation.T @ truth["velocity"][k])
        tilts.append(math.asin(min(float(np.linalg.norm(np.cross(own.rotation[2], real.rotation[2]))), 1.0)))
        way += float(np.linalg.norm(truth["position"][k, :2] - truth["position"][k - 1, :2]))
    assert first is not None
    gap = first[0].actInv(own).translation - first[1].actInv(real).translation
    rms = [math.sqrt(np.mean(np.square(x))) for x in (tilts, np.linalg.norm(slips, axis=1))]
    print(
        f"after {arguments.start + 1.0:g} s: tilt {math.degrees(rms[0]):.2f}° rms, {math.degrees(max(tilts)):.2f}° "
        f"most; velocity {rms[1]:.3f} m/s rms; drift {np.linalg.norm(gap):.3f} m of {way:.2f} m; {faults} faults; "
        f"tick {1e6 * np.median(seconds):.0f} µs"
    )


if __name__ == "__main__":
    main()
