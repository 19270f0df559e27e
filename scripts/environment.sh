# SPDX-License-Identifier: Apache-2.0
# To be sourced: the environment in which this checkout's nodes, tests and tools run on the wheels in .venv.
# On a machine with ROS 2 Jazzy source the workspace's install/setup.bash instead.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"
if [ ! -x "$venv/bin/python" ]; then
  echo "humanoid_stack: there is no .venv in $root yet; run 'make build' first." >&2
  exit 1
fi
python_folder="$(basename "$(echo "$venv"/lib/python3.*)")"

export PATH="$venv/bin:$PATH"
export AMENT_PREFIX_PATH="$root/install:$venv"
export CMAKE_PREFIX_PATH="$root/install:$venv"
# The checkout comes first: what runs is what is being edited, also files that were added after the last build.
export PYTHONPATH="$root:$root/studies:$root/install/lib/$python_folder/site-packages"
export LD_LIBRARY_PATH="$root/install/lib:$venv/lib"
for folder in "$venv/lib/$python_folder"/site-packages/ros_*.libs; do
  if [ -d "$folder" ]; then
    LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$folder"
  fi
done
# The wheels would start every Python twice to set LD_LIBRARY_PATH. It is set.
export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
# Nothing leaves this machine unless the user says so.
export ROS_AUTOMATIC_DISCOVERY_RANGE="${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}"
export ROS_LOG_DIR="${ROS_LOG_DIR:-$root/log/ros}"
unset root venv python_folder folder
