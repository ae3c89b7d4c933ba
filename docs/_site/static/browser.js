// The page "In a browser": starts Pyodide when a button is first pressed, installs the wheel beside it and runs programs.
const box = document.getElementById("wengert-browser");
const log = box.querySelector("pre");
const buttons = [...box.querySelectorAll("button")];
const say = (text) => { log.textContent += text + "\n"; log.scrollTop = log.scrollHeight; };
let starting;

async function start() {
  const where = box.dataset.pyodide;
  say("Fetching Python, NumPy and SciPy ...");
  const { loadPyodide } = await import(where + "pyodide.mjs");
  const python = await loadPyodide({ indexURL: where, stdout: say, stderr: say });
  await python.loadPackage(["numpy", "scipy"], { messageCallback: () => {} });
  const wheel = await fetch(box.dataset.wheel);
  if (!wheel.ok) throw new Error(`${box.dataset.wheel}: ${wheel.status}`);
  python.unpackArchive(await wheel.arrayBuffer(), "whl");
  return python;
}

const RUN = `
import runpy, sys, traceback
sys.argv = ["wengert", *given]
try:
    runpy.run_module("wengert", run_name="__main__", alter_sys=True)
except SystemExit as end:
    if end.code:
        print("exit code", end.code)
except BaseException:
    traceback.print_exc()
`;

// The pictures that the program has written.
function show(python) {
  box.querySelectorAll("img").forEach((image) => image.remove());
  for (const name of python.FS.readdir(".").filter((name) => name.endsWith(".svg"))) {
    const image = box.appendChild(document.createElement("img"));
    image.src = URL.createObjectURL(new Blob([python.FS.readFile(name)], { type: "image/svg+xml" }));
    image.alt = name;
    image.style.maxWidth = "100%";
    python.FS.unlink(name);
  }
}

async function run(what) {
  buttons.forEach((button) => { button.disabled = true; });
  log.textContent = "";
  try {
    const python = await (starting ??= start());
    await new Promise((shown) => setTimeout(shown, 50)); // the page is drawn before Python takes the thread
    if (what === "program") python.FS.writeFile("program.py", box.querySelector("textarea").value);
    python.globals.set("given", python.toPy(what === "tour" ? ["tour"] : ["run", "program.py"]));
    python.runPython(RUN);
    show(python);
    say("done");
  } catch (error) {
    starting = undefined;
    say(String(error));
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
}

buttons.forEach((button) => button.addEventListener("click", () => run(button.dataset.run)));
