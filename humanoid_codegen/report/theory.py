# SPDX-License-Identifier: Apache-2.0
"""The algorithms' equations for any tree, as :mod:`humanoid_codegen.dynamics` has them, with the thesis' numbers."""

from __future__ import annotations

from humanoid_codegen.report.document import Block, Equations, Heading, Paragraph, text

#: What each function is, in terms of inverse dynamics or by definition.
DEFINITIONS: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("\\tau &= ID(q, v, \\dot{v}) = M(q) \\dot{v} + b(q, v)",),
    "direct_dynamics": ("\\dot{v} &= M(q)^{-1} (\\tau - b(q, v))",),
    "mass_matrix": ("M(q) e_j &= ID(q, 0, e_j) - ID(q, 0, 0)",),
    "bias": ("b(q, v) &= ID(q, v, 0)",),
    "gravity": ("g(q) &= ID(q, 0, 0)",),
    "kinematics": (
        "{}^0 R_i &= {}^0 R_{p(i)} R_i \\qquad {}^0 p_i = {}^0 p_{p(i)} + {}^0 R_{p(i)} r_i",
        "c &= \\frac{1}{\\sum m_l} \\sum_l m_l c_l",
    ),
    "jacobians": ("J_l(q) v &= (V_l, \\omega_l)",),
    "energies": (
        "E_{c,l} &= \\frac{1}{2} ( \\omega_l^T I_l \\omega_l + m_l V_{c,l}^T V_{c,l} ) \\qquad (2.4)",
        "E_{p,l} &= - m_l g^T c_l \\qquad (2.5)",
    ),
    "regressor": ("\\tau &= Y(q, v, \\dot{v}) \\pi",),
    "inverse_dynamics_derivatives": (
        "d \\tau &= \\frac{\\partial \\tau}{\\partial q} dq + \\frac{\\partial \\tau}{\\partial v} dv + M d \\dot{v}",
    ),
    "direct_dynamics_derivatives": (
        "d \\dot{v} &= M^{-1} ( d \\tau - \\frac{\\partial \\tau}{\\partial q} dq"
        " - \\frac{\\partial \\tau}{\\partial v} dv )",
    ),
}


def recursion() -> list[Block]:
    """Newton and Euler's recursion."""
    return [
        Heading(2, text("Inverse dynamics of a tree")),
        Paragraph(
            text(
                "The recursive algorithm of Newton and Euler (Luh, Walker and Paul 1980), each body in its own frame. "
                "$R_i$ is the rotation of body $i$ in its parent $p = p(i)$ and $r_i$ the position of its origin "
                "there. $\\omega_{J,i}$ and $v_{J,i}$ are the joint's own angular and linear velocity: with the axis "
                "$e_i$, they are $e_i v_i$ and $0$ for a revolute joint, $0$ and $e_i v_i$ for a prismatic one; of a "
                "ball joint and a free flyer they are the velocity coordinates themselves. Numbers in brackets are "
                "those of the thesis' equations, which are the same in the world's axes."
            )
        ),
        Paragraph(text("Start at the world, which accelerates upwards instead of gravity pulling downwards (2.27):")),
        Equations(("\\omega_0 &= 0 \\qquad \\dot{\\omega}_0 = 0 \\qquad a_0 = -g \\qquad U_0 = 0",)),
        Paragraph(text("From the root to the tips, rates (2.25), accelerations (2.22), forces and moments (2.21):")),
        Equations(
            (
                "\\omega_i &= R_i^T \\omega_p + \\omega_{J,i}",
                "\\dot{\\omega}_i &= R_i^T \\dot{\\omega}_p + \\dot{\\omega}_{J,i}"
                " + (R_i^T \\omega_p) \\times \\omega_{J,i}",
                "U_i &= [\\dot{\\omega}_i]_{\\times} + [\\omega_i]_{\\times}^2",
                "a_i &= R_i^T (a_p + U_p r_i) + \\dot{v}_{J,i} + (R_i^T \\omega_p + \\omega_i) \\times v_{J,i}",
                "f_i &= m_i a_i + U_i h_i - f_i^{ext}",
                "n_i &= (U_i J_i - J_i U_i^T)^{\\vee} + h_i \\times a_i - n_i^{ext}",
            )
        ),
        Paragraph(
            text(
                "Mass $m_i$, first moments $h_i = m_i c_i$ and second moments $J_i = \\int r r^T dm$ are about the "
                "body's origin, and $S^{\\vee} = (S_{zy}, S_{xz}, S_{yx})$; the moment is Euler's "
                "$I \\dot{\\omega} + \\omega \\times I \\omega$ in fewer products. $f^{ext}$ and $n^{ext}$ are what "
                "the environment exerts on the body."
            )
        ),
        Paragraph(text("From the tips to the root, each body once and after all of its children (2.32), (2.33):")),
        Equations(
            (
                "f_p &\\leftarrow f_p + R_i f_i",
                "n_p &\\leftarrow n_p + R_i n_i + r_i \\times R_i f_i",
            )
        ),
        Paragraph(
            text(
                "The joint's effort is the part along its motion: $\\tau_i = e_i^T n_i$ for a revolute joint, "
                "$\\tau_i = e_i^T f_i$ for a prismatic one, plus rotor inertia times acceleration where there is any."
            )
        ),
    ]
