import { spawnSync } from "node:child_process";
import { missingPrograms, PACKAGES } from "./needed.ts";

/** `npm run test:schedulers`: says what is missing, installs it only with `--install`, and runs the tests of this folder. */

const INSTALL = `apt-get install --yes --no-install-recommends ${PACKAGES.join(" ")}`;

function main(words: readonly string[]): number {
  if (words.some((word) => word !== "--install"))
    return complain(`found ${words.join(" ")}, expected --install or nothing`);
  if (words.includes("--install") && missingPrograms().length > 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const { status } = spawnSync("sh", ["-c", `apt-get update && ${INSTALL}`], { stdio: "inherit", env });
    if (status !== 0) return complain("the packages could not be installed");
  }
  const missing = missingPrograms();
  if (missing.length > 0)
    return complain(
      `${missing.join(", ")}: missing. "npm run test:schedulers -- --install" installs them: ${INSTALL}`,
    );
  if (process.getuid?.() !== 0) return complain("slurmd starts jobs only as root");
  const vitest = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--config",
    "test/deep/vitest.config.ts",
    "test/schedulers",
  ];
  return spawnSync(process.execPath, vitest, { stdio: "inherit" }).status ?? 1;
}

function complain(text: string): number {
  process.stderr.write(`${text}\n`);
  return 2;
}

process.exitCode = main(process.argv.slice(2));
