import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { watchRun } from "./end-with-run.ts";

/** Before a run of tests. Ends it at once on a Node that is too old. Otherwise tests fail later, with errors that do not name the cause. */
export default function setUp(): void {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 19)) {
    throw new Error(
      `Node ${process.versions.node} runs the tests; 22.19 or newer is needed. Start them with "npm test", after "npm ci" without --ignore-scripts.`,
    );
  }
  compileOnce();
  watchRun();
}

/** Before the first run of a checkout, so that processes that start together do not all compile the same. */
function compileOnce(): void {
  const cache = process.env["NODE_COMPILE_CACHE"];
  if (cache === undefined || existsSync(cache)) return;
  const modules = ["functions/handlers.ts", "src/local/system.ts", "src/cli/options.ts"];
  const imports = modules.map(
    (path) => `import ${JSON.stringify(new URL(`../../${path}`, import.meta.url).href)};`,
  );
  spawnSync(process.execPath, ["--input-type=module", "--eval", imports.join("")]);
}
