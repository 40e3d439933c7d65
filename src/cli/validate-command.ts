import { validateConstraints } from "../client/index.ts";
import { showJson } from "../client/readable.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { Register } from "./options.ts";
import { wrapped } from "./options.ts";
import { nameOf, readJson } from "./read-json.ts";
import { complainOfProblems, jsonText } from "./tell.ts";
import type { Terminal } from "./terminal.ts";

const CONSTRAINT_HELP =
  'Reads the constraints of a job by the app\'s own rules, and prints them as the app understands them: all must hold. Lists every problem with its path, what was found and what was expected. Whether a cluster has such nodes, buckets --constraint says. "-" reads standard input.';

/** Checks that need no app. */
export function registerValidate({ program, terminal, run }: Register): void {
  const validate = program.command("validate").description("check a file; works without the app");
  validate
    .command("constraint")
    .description("check the constraints of a job; works without the app")
    .addHelpText("after", wrapped(CONSTRAINT_HELP))
    .argument("<file>", "the constraints as JSON: an object, or a list of objects")
    .option("--json", "the constraints as the app understands them, as JSON")
    .action((file: string, options: { readonly json?: true }) =>
      run(() => checkConstraint(terminal, file, options.json === true)),
    );
}

async function checkConstraint(terminal: Terminal, file: string, json: boolean): Promise<ExitCode> {
  const read = await readJson(terminal, file);
  if ("code" in read) return read.code;
  const { constraints, problems, doubts } = validateConstraints(read.value);
  // A job with a doubt is left out by the app.
  const wrong = [...problems, ...doubts];
  complainOfProblems(terminal, nameOf(file), wrong);
  if (wrong.length > 0) return EXIT.usage;
  const none = `${nameOf(file)} is valid: no constraint, so one slot goes on any node`;
  const lines = constraints.map((one) => `  ${showJson(one)}`);
  if (json) terminal.say(jsonText(constraints));
  else terminal.say(lines.length === 0 ? none : [`${nameOf(file)} is valid:`, ...lines].join("\n"));
  return EXIT.done;
}
