"""One side laid out for the row update: which rows take longer paths."""

import numpy as np

from bayesvec.inference.sides import MANY, path_steps
from bayesvec.kernels.hamiltonian import FEW_AXES, MORE_STEPS, STEPS


def test_rows_that_occur_with_many_others_take_longer_paths():
    sizes = np.array([1, int(MANY * 500) - 1, int(MANY * 500), 500])
    assert path_steps(sizes, 500, FEW_AXES).tolist() == [STEPS, STEPS, MORE_STEPS, MORE_STEPS]
    assert path_steps(sizes, 500, FEW_AXES - 1).tolist() == [STEPS] * 4
    assert MORE_STEPS > STEPS
