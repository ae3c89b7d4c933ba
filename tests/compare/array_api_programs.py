"""Calls of scikit-learn, SciPy, array_api_compat and array_api_extra with tensors, on PyTorch or on wengert.

``python array_api_programs.py torch|wengert sklearn|scipy|extra`` prints one JSON line for each call: its name, and its
result (shapes, dtypes, whether it is a tensor, numbers) or the class of the error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

os.environ["SCIPY_ARRAY_API"] = "1"
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402

torch: Any = importlib.import_module(sys.argv[1])
RNG = np.random.RandomState(0)
Calls = dict[str, Callable[[], Any]]


def words(text: str) -> list[str]:
    return text.split()


def tensor(*shape: int) -> Any:
    return torch.asarray(RNG.rand(*shape) + 0.1)


def namespace() -> Any:
    """What a program gives as ``xp=``: the package for PyTorch, the array's own otherwise."""
    x = torch.ones(1)
    return x.__array_namespace__() if hasattr(x, "__array_namespace__") else torch


def sklearn_calls() -> Calls:
    from sklearn import (
        decomposition,
        discriminant_analysis,
        kernel_approximation,
        linear_model,
        metrics,
        mixture,
        model_selection,
        naive_bayes,
        pipeline,
        preprocessing,
        utils,
    )
    from sklearn.metrics import pairwise

    x = torch.asarray(RNG.randn(60, 5))
    target = torch.asarray((RNG.randn(60) > 0).astype("int64"))
    values = x @ torch.asarray(RNG.randn(5))
    calls: Calls = {}
    pca = decomposition.PCA
    for made in (
        preprocessing.MinMaxScaler(), preprocessing.MaxAbsScaler(), preprocessing.StandardScaler(),
        preprocessing.Normalizer(), preprocessing.Binarizer(), preprocessing.PolynomialFeatures(2),
        pca(2, svd_solver="full"), pca(2, svd_solver="covariance_eigh"), pca(0.9, svd_solver="full", whiten=True),
        pca(2, svd_solver="randomized", power_iteration_normalizer="QR", random_state=0),
        kernel_approximation.Nystroem(n_components=5, random_state=0),
    ):  # fmt: skip
        calls[f"{made!r}.transform"] = lambda made=made: abs(made.fit(x).transform(x))
    calls["KernelCenterer"] = lambda: preprocessing.KernelCenterer().fit(x @ x.T).transform(x @ x.T)
    for made in (linear_model.Ridge(solver="svd"), linear_model.RidgeCV()):
        calls[f"{made!r}.predict"] = lambda made=made: made.fit(x, values).predict(x)
    for made in (
        linear_model.RidgeClassifier(solver="svd"), linear_model.RidgeClassifierCV(), naive_bayes.GaussianNB(),
        discriminant_analysis.LinearDiscriminantAnalysis(),
        linear_model.LogisticRegression(solver="lbfgs"),
        mixture.GaussianMixture(2, init_params="random", random_state=0),
        pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.RidgeClassifier(solver="svd")),
    ):  # fmt: skip
        calls[f"{made!r}.predict"] = lambda made=made: made.fit(x, target).predict(x)
    calls["train_test_split"] = lambda: model_selection.train_test_split(x, target, random_state=0)
    calls["LabelEncoder"] = lambda: preprocessing.LabelEncoder().fit(target).transform(target)
    calls["LabelBinarizer"] = lambda: preprocessing.LabelBinarizer().fit(target).transform(target)
    calls["cross_val_predict"] = lambda: model_selection.cross_val_predict(
        discriminant_analysis.LinearDiscriminantAnalysis(), x, target
    )
    calls["shuffle"] = lambda: utils.shuffle(x, random_state=0)
    calls["resample"] = lambda: utils.resample(x, random_state=0)
    other, score = torch.roll(target, 3), torch.sigmoid(x[:, 0])
    for name in words(
        "accuracy_score balanced_accuracy_score zero_one_loss f1_score precision_score recall_score jaccard_score "
        "hamming_loss confusion_matrix cohen_kappa_score multilabel_confusion_matrix precision_recall_fscore_support"
    ):
        calls[name] = lambda name=name: getattr(metrics, name)(target, other)
    for name in words("average_precision_score precision_recall_curve det_curve brier_score_loss log_loss"):
        calls[name] = lambda name=name: getattr(metrics, name)(target, score)
    one, two = abs(values) + 1, torch.flip(abs(values), [0]) + 0.5
    for name in words(
        "mean_absolute_error mean_squared_error r2_score d2_tweedie_score explained_variance_score max_error "
        "mean_squared_log_error root_mean_squared_error mean_absolute_percentage_error mean_pinball_loss "
        "median_absolute_error d2_absolute_error_score d2_pinball_score mean_tweedie_deviance mean_poisson_deviance "
        "mean_gamma_deviance root_mean_squared_log_error"
    ):
        calls[name] = lambda name=name: getattr(metrics, name)(one, two)
    for name in words(
        "cosine_similarity cosine_distances euclidean_distances linear_kernel polynomial_kernel sigmoid_kernel "
        "rbf_kernel laplacian_kernel chi2_kernel additive_chi2_kernel paired_cosine_distances "
        "paired_euclidean_distances manhattan_distances"
    ):
        calls[name] = lambda name=name: getattr(pairwise, name)(abs(x), abs(x))
    return calls


def scipy_calls() -> Calls:
    from scipy import (
        cluster,
        constants,
        differentiate,
        fft,
        integrate,
        interpolate,
        linalg,
        ndimage,
        optimize,
        signal,
        spatial,
        special,
        stats,
    )
    from scipy.cluster import hierarchy, vq
    from scipy.spatial.transform import Rotation

    assert cluster and spatial
    x, y, rows, square = tensor(20), tensor(20), tensor(6, 4), tensor(5, 5)
    calls: Calls = {}
    for name in words(
        "gmean hmean kurtosis skew moment variation sem zscore gzscore iqr entropy differential_entropy mode skewtest "
        "kurtosistest normaltest jarque_bera lmoment tstd tsem circmean circvar circstd kstat kstatvar describe "
        "median_abs_deviation gstd rankdata shapiro sigmaclip obrientransform"
    ):
        calls[f"stats.{name}"] = lambda name=name: getattr(stats, name)(x)
    for name in words(
        "pearsonr ttest_ind ttest_rel ks_2samp mannwhitneyu wilcoxon spearmanr kendalltau ranksums mood bartlett "
        "levene fligner f_oneway kruskal alexandergovern linregress theilslopes siegelslopes wasserstein_distance "
        "energy_distance brunnermunzel spearmanrho chatterjeexi cramervonmises_2samp epps_singleton_2samp"
    ):
        calls[f"stats.{name}"] = lambda name=name: getattr(stats, name)(x, y)
    calls["stats.chisquare"] = lambda: stats.chisquare(x, y * (x.sum() / y.sum()))
    calls["stats.pmean"] = lambda: stats.pmean(x, 2)
    calls["stats.quantile"] = lambda: stats.quantile(x, torch.asarray([0.25, 0.5], dtype=torch.float64))
    calls["stats.combine_pvalues"] = lambda: stats.combine_pvalues(x / 2)
    calls["stats.false_discovery_control"] = lambda: stats.false_discovery_control(x / 2)
    calls["stats.directional_stats"] = lambda: stats.directional_stats(rows)
    for count, names in enumerate((
        "erf erfc gammaln i0 i0e i1 i1e log_ndtr ndtr ndtri expit logit entr sinc digamma logsumexp softmax",
        "xlogy rel_entr beta gammainc gammaincc chdtr chdtrc stdtr chdtri zeta", "betainc betaincc",
    ), 1):  # fmt: skip
        for name in names.split():
            operands = [x / 2 + k for k in range(count)][::-1]
            calls[f"special.{name}"] = lambda name=name, operands=operands: getattr(special, name)(*operands)
    for name in words(
        "fft ifft rfft irfft fft2 ifft2 rfft2 fftn ifftn rfftn hfft ihfft dct idct dst idst dctn idctn fftshift"
    ):
        calls[f"fft.{name}"] = lambda name=name: getattr(fft, name)(rows)
    calls["fft.fftfreq"] = lambda: fft.fftfreq(5, xp=namespace())
    sections = torch.asarray(signal.butter(2, 0.3, output="sos"))
    calls.update({f"signal.{name}": call for name, call in {
        "detrend": lambda: signal.detrend(x), "hilbert": lambda: signal.hilbert(x),
        "convolve": lambda: signal.convolve(x, y), "fftconvolve": lambda: signal.fftconvolve(x, y),
        "oaconvolve": lambda: signal.oaconvolve(x, y[:3]), "convolve2d": lambda: signal.convolve2d(rows, square),
        "correlate2d": lambda: signal.correlate2d(rows, square), "lfilter": lambda: signal.lfilter(y[:3], x[:3], x),
        "filtfilt": lambda: signal.filtfilt(y[:2], x[:2], x), "sosfilt": lambda: signal.sosfilt(sections, x),
        "sosfiltfilt": lambda: signal.sosfiltfilt(sections, x), "medfilt": lambda: signal.medfilt(x, 3),
        "resample": lambda: signal.resample(x, 10), "resample_poly": lambda: signal.resample_poly(x, 2, 1),
        "upfirdn": lambda: signal.upfirdn(y[:3], x, 2), "periodogram": lambda: signal.periodogram(x),
        "welch": lambda: signal.welch(x, nperseg=8), "csd": lambda: signal.csd(x, y, nperseg=8),
        "coherence": lambda: signal.coherence(x, y, nperseg=8), "zpk2tf": lambda: signal.zpk2tf(x[:2], y[:2], 1.0),
        "freqz": lambda: signal.freqz(x[:3], y[:3], worN=8), "bilinear": lambda: signal.bilinear(x[:3], y[:3]),
        "savgol_filter": lambda: signal.savgol_filter(x, 5, 2), "chirp": lambda: signal.chirp(x, 1.0, 1.0, 2.0),
        "hann": lambda: signal.windows.hann(5, xp=namespace()), "lombscargle": lambda: signal.lombscargle(x, y, x),
    }.items()})  # fmt: skip
    calls["vq.whiten"] = lambda: vq.whiten(rows)
    calls["vq.vq"] = lambda: vq.vq(rows, rows[:2])
    calls["vq.kmeans"] = lambda: vq.kmeans(rows, 2, rng=np.random.default_rng(0))
    calls["hierarchy.ward"] = lambda: hierarchy.ward(rows)
    calls["hierarchy.fcluster"] = lambda: hierarchy.fcluster(hierarchy.linkage(rows), 1.0)
    calls["Rotation.as_matrix"] = lambda: Rotation.from_quat(rows).as_matrix()
    calls["Rotation.mul"] = lambda: (Rotation.from_rotvec(rows[:, :3]) * Rotation.from_rotvec(rows[:, :3])).as_quat()
    for name, more in {
        "gaussian_filter": (1,), "uniform_filter": (3,), "median_filter": (3,), "sobel": (), "zoom": (2,),
        "rotate": (30,), "maximum_filter": (3,), "center_of_mass": (), "fourier_gaussian": (1,),
    }.items():  # fmt: skip
        calls[f"ndimage.{name}"] = lambda name=name, more=more: getattr(ndimage, name)(square, *more)
    zeros = torch.zeros(20, dtype=torch.float64)
    from scipy.optimize import elementwise

    calls["optimize.find_root"] = lambda: elementwise.find_root(lambda q, c: q**2 - c, (zeros, zeros + 3), args=(x,)).x
    calls["optimize.find_minimum"] = lambda: (
        elementwise.find_minimum(lambda q, c: (q - c) ** 2, (x - 1, x + 0.1, x + 2), args=(x,)).x
    )
    for name in ("rosen", "rosen_der", "rosen_hess"):
        calls[f"optimize.{name}"] = lambda name=name: getattr(optimize, name)(x)
    for name in ("trapezoid", "simpson", "cumulative_trapezoid", "cumulative_simpson"):
        calls[f"integrate.{name}"] = lambda name=name: getattr(integrate, name)(rows)
    calls["integrate.tanhsinh"] = lambda: integrate.tanhsinh(lambda z: torch.exp(-z * z), zeros, x).integral
    calls["integrate.cubature"] = lambda: (
        integrate.cubature(lambda z: torch.exp(-(z**2).sum(-1)), zeros[:2], zeros[:2] + 1).estimate
    )
    calls["differentiate.derivative"] = lambda: differentiate.derivative(torch.sin, x).df
    calls["differentiate.jacobian"] = lambda: differentiate.jacobian(lambda q: q**2, x).df
    definite = square @ square.T + torch.eye(5, dtype=torch.float64)
    for name in ("inv", "det", "cholesky", "expm", "pinv", "eigvalsh", "norm"):
        calls[f"linalg.{name}"] = lambda name=name: getattr(linalg, name)(definite)
    calls["linalg.solve"] = lambda: linalg.solve(definite, square[0])
    calls["constants"] = lambda: constants.convert_temperature(x, "C", "K")
    steps = torch.arange(20, dtype=torch.float64)
    for name in ("PchipInterpolator", "CubicSpline", "Akima1DInterpolator", "make_interp_spline"):
        calls[f"interpolate.{name}"] = lambda name=name: getattr(interpolate, name)(steps, y)(x)
    calls["interpolate.AAA"] = lambda: interpolate.AAA(x, y)(x)
    calls["interpolate.RBF"] = lambda: interpolate.RBFInterpolator(rows[:, :2], rows[:, 0])(rows[:, :2])
    return calls


def extra_calls() -> Calls:
    import array_api_compat as compat
    import array_api_extra as xpx

    x, y, rows = tensor(7), tensor(7), tensor(3, 4)
    whole = torch.asarray([3, 1, 3, 2])
    xp = compat.array_namespace(x)
    calls: Calls = {
        "size": lambda: compat.size(rows), "device": lambda: str(compat.device(x)),
        "to_device": lambda: compat.to_device(x, "cpu"), "is_array_api_obj": lambda: compat.is_array_api_obj(x),
        "is_writeable_array": lambda: compat.is_writeable_array(x), "is_lazy_array": lambda: compat.is_lazy_array(x),
        "array_namespace": lambda: [hasattr(xp, n) for n in ("unique_all", "linalg", "fft", "isdtype", "astype")],
        "at.set": lambda: xpx.at(x)[1].set(9.0, copy=True), "at.add": lambda: xpx.at(x)[x > 0.5].add(1.0, copy=True),
        "atleast_nd": lambda: xpx.atleast_nd(x, ndim=3), "cov": lambda: xpx.cov(rows),
        "create_diagonal": lambda: xpx.create_diagonal(x, offset=1), "isclose": lambda: xpx.isclose(x, y),
        "kron": lambda: xpx.kron(rows, rows), "nunique": lambda: xpx.nunique(whole), "sinc": lambda: xpx.sinc(x),
        "pad": lambda: xpx.pad(rows, 1), "setdiff1d": lambda: xpx.setdiff1d(whole, whole[:2]),
        "one_hot": lambda: xpx.one_hot(whole, 5), "nan_to_num": lambda: xpx.nan_to_num(x),
        "apply_where": lambda: xpx.apply_where(x > 0.5, (x, y), lambda a, b: a * b, lambda a, b: a - b),
        "default_dtype": lambda: str(xpx.default_dtype(xp)), "argpartition": lambda: xpx.argpartition(x, 3).shape,
        "partition": lambda: xpx.partition(x, 3)[3], "searchsorted": lambda: xpx.searchsorted(xp.sort(x), y),
        "lazy_apply": lambda: xpx.lazy_apply(lambda a: a * 2, x),
        "angle": lambda: xpx.angle(x + 1j), "union1d": lambda: xpx.union1d(whole, whole[:2]),
        "isin": lambda: xpx.isin(whole, whole[:2]),
    }  # fmt: skip
    return calls


def told(result: Any) -> Any:
    """A result in JSON; for an array, whether it is a tensor, its dtype, shape and numbers."""
    if isinstance(result, (tuple, list)):
        return [told(one) for one in result]
    if result is None or isinstance(result, (str, bool, int, float)):
        return result
    try:
        array = np.asarray(result.resolve_conj() if isinstance(result, torch.Tensor) else result)
    except Exception:  # noqa: BLE001  a library's own result object
        array = np.asarray(None)
    if array.dtype == object:
        parts = {k: v for k, v in getattr(result, "__dict__", {}).items() if not k.startswith("_")}
        return {name: told(value) for name, value in parts.items() if isinstance(value, (torch.Tensor, float, int))}
    numbers = array.ravel().astype("complex128")
    return [isinstance(result, torch.Tensor), str(array.dtype), list(array.shape), [[z.real, z.imag] for z in numbers]]


if __name__ == "__main__":
    from contextlib import nullcontext

    around: Any = nullcontext()
    if sys.argv[2] == "sklearn":
        from sklearn import config_context

        around = config_context(array_api_dispatch=True)
    with around:
        calls = {"sklearn": sklearn_calls, "scipy": scipy_calls, "extra": extra_calls}[sys.argv[2]]()
        for name, call in calls.items():
            try:
                answer = told(call())
            except Exception as error:  # noqa: BLE001  whether it is the same one is what is asked
                answer = {"error": type(error).__name__, "says": str(error)[:300]}
            sys.stdout.write(json.dumps([name, answer]) + "\n")
