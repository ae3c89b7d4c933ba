"""Passes as objects (`pass_base`), and several of them in order (`pass_manager`)."""
