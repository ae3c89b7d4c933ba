// node tools/in_browser.mjs PYODIDE ROOT PURE ARGUMENT...: see in_browser.py, which calls it.
import { pathToFileURL } from "url";

const [pyodide, root, pure, ...given] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: `${pyodide}/`, env: { HOME: "/home/pyodide", PYTHONDONTWRITEBYTECODE: "1" } });
await python.loadPackage(["numpy", "scipy"], { messageCallback: () => {} });
for (const [at, path] of [["/repository", root], ["/pure", pure], ["/here", process.cwd()]]) {
  python.FS.mkdirTree(at);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: path }, at);
}
python.globals.set("given", python.toPy(given));
process.exitCode = python.runPython(`
import os, runpy, sys

sys.path[:0] = ["/repository/src"]
sys.path.append("/pure")
os.chdir("/here")
code = 0
try:
    if given[0] == "-m":
        sys.argv = given[1:]
        runpy.run_module(given[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = given
        runpy.run_path(given[0], run_name="__main__")
except SystemExit as end:
    code = end.code if isinstance(end.code, int) else int(end.code is not None)
code
`);
