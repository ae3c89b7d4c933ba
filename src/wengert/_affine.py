from ._linear import affine as affine, refuse_addmm as refuse_addmm
