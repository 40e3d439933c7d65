import { spawn } from "node:child_process";
import { hostname } from "node:os";
import { Option } from "commander";
import type { AgentParts, Turn } from "../agent/agent.ts";
import { openAgent } from "../agent/agent.ts";
import { openApp } from "../agent/ask-app.ts";
import { carryOut } from "../agent/carry-out.ts";
import type { Hands } from "../agent/carry-out.ts";
import { openCommands } from "../agent/commands.ts";
import { becomeOnlyCopy } from "../agent/only-copy.ts";
import { readSlurm } from "../agent/read-slurm.ts";
import { messageOf } from "../agent/slurm/demand.ts";
import type { Mapping } from "../agent/slurm/mapping.ts";
import { readMapping } from "../agent/slurm/mapping.ts";
import { undoMarks } from "../agent/slurm/reconcile.ts";
import { noteResumes } from "../agent/slurm/resumes.ts";
import { cloudNodes } from "../agent/slurm/cloud-node.ts";
import { readingInWords } from "../agent/slurm/words.ts";
import { openStateFolder } from "../agent/state-folder.ts";
import type { Milliseconds } from "../domain/units.ts";
import { instant } from "../domain/units.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { Register } from "./options.ts";
import { key, url, wrapped } from "./options.ts";
import { jsonText } from "./tell.ts";
import type { Terminal } from "./terminal.ts";

interface AgentOptions {
  readonly scheduler: "slurm";
  readonly file: string;
  readonly url?: string;
  readonly key?: string;
  readonly once?: true;
  readonly dryRun?: true;
  readonly release?: true;
}

const FILE = "/etc/cyclecloud-autoscaler/slurm.map";

/** The service on a scheduler's machine. */
export function registerAgent({ program, terminal, run }: Register): void {
  const command = program.command("agent");
  command
    .description("run beside a scheduler: push its demand, and tell it what cannot be had")
    .addHelpText(
      "after",
      wrapped(
        "Reads the scheduler with its own commands every 15 seconds and when it calls a shim, pushes all nodes that it counts on as one request set, and changes nodes in it by docs/slurm.md. It needs no root. In mode observe it changes nothing but its own marks.",
      ),
    )
    .addOption(new Option("--scheduler <name>", "the scheduler").choices(["slurm"]).makeOptionMandatory())
    .addOption(
      new Option("--file <path>", "the agent's file: host ranges, state folder, earlier programs")
        .env("AUTOSCALER_AGENT_FILE")
        .default(FILE),
    )
    .addOption(url())
    .addOption(key())
    .option("--once", "one reading and one push, for cron")
    .option("--dry-run", "print the message and how each node and job was read; change nothing")
    .option("--release", "undo the marks of ours that have ended, and end")
    .action((options: AgentOptions) =>
      run(async () => {
        const mapping = await mappingFrom(terminal, options.file);
        if (mapping === undefined) return EXIT.usage;
        if (options.dryRun === true) return showReading(terminal, mapping);
        if (options.release === true) return release(terminal, mapping);
        const { url, key } = options;
        if (url === undefined || key === undefined)
          return command.error("error: expected --url and --key (AUTOSCALER_URL, AUTOSCALER_KEY)");
        return work(terminal, mapping, { url, key }, options.once === true);
      }),
    );
}

/** Undefined: each mistake was said. */
async function mappingFrom(terminal: Terminal, file: string): Promise<Mapping | undefined> {
  try {
    const read = readMapping(await terminal.read(file));
    if (read.kind === "mapping") return read.mapping;
    for (const problem of read.problems) terminal.complain(`${file}: ${problem}`);
  } catch (error) {
    terminal.complain(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}

function handsOf(terminal: Terminal, { previousSuspend }: Mapping): Hands {
  return {
    run: openCommands(terminal.environment),
    start: (program, words) => {
      const child = spawn(program, [...words], { detached: true, stdio: "ignore" });
      child.on("error", (error) => terminal.complain(`${program}: ${error.message}`));
      child.unref();
    },
    log: terminal.say,
    ...(previousSuspend === undefined ? {} : { previousSuspend }),
  };
}

/** Prints the message that would be pushed, and in words how each node and each job was read. */
async function showReading(terminal: Terminal, mapping: Mapping): Promise<ExitCode> {
  const readAt = instant(terminal.now());
  const read = await readSlurm(openCommands(terminal.environment));
  if (read.kind === "unknown") {
    terminal.complain(`Slurm cannot be read: ${read.why}`);
    return EXIT.unreachable;
  }
  const folder = openStateFolder(mapping.state, mapping.memory);
  const all = cloudNodes(read.reading, mapping);
  const known = (await folder.kept()).resumes;
  const facts = {
    readAt,
    resumes: noteResumes(known, await folder.calls(), new Map(), all, readAt),
    earlier: new Set<string>(),
  };
  terminal.say(jsonText(messageOf(all, mapping, facts)));
  for (const line of readingInWords(all, read.reading.jobs, mapping, facts)) terminal.complain(line);
  return EXIT.done;
}

async function release(terminal: Terminal, mapping: Mapping): Promise<ExitCode> {
  const hands = handsOf(terminal, mapping);
  const read = await readSlurm(hands.run);
  if (read.kind === "unknown") {
    terminal.complain(`Slurm cannot be read: ${read.why}`);
    return EXIT.unreachable;
  }
  const all = cloudNodes(read.reading, mapping);
  const { modes } = await openStateFolder(mapping.state, mapping.memory).kept();
  const acts = undoMarks(all, modes, instant(terminal.now()));
  const done = await carryOut(acts, all, hands);
  return done.length === acts.length ? EXIT.done : EXIT.unreachable;
}

/** The spool is read each second; without a call Slurm is read every 15 s. */
const SPOOL_MS: Milliseconds = 1000;
const READ_MS: Milliseconds = 15_000;
/** After a call the app has planned within this time: what cannot be had is told then. */
const AFTER_CALL_MS: Milliseconds = 4000;

async function work(
  terminal: Terminal,
  mapping: Mapping,
  address: { readonly url: string; readonly key: string },
  once: boolean,
): Promise<ExitCode> {
  const end = await becomeOnlyCopy(mapping.state);
  if (end === undefined) {
    terminal.complain(`another agent runs here with the state folder ${mapping.state}`);
    return EXIT.no;
  }
  const folder = openStateFolder(mapping.state, mapping.memory);
  const parts: AgentParts = {
    mapping,
    app: openApp(address.url, address.key),
    folder,
    hands: handsOf(terminal, mapping),
    host: hostname(),
    now: () => instant(terminal.now()),
  };
  const turn = openAgent(parts);
  try {
    if (once) return (await turn()) ? EXIT.done : EXIT.unreachable;
    return await serve(terminal, turn, async () => (await folder.calls()).map(({ file }) => file));
  } finally {
    end();
  }
}

async function serve(
  terminal: Terminal,
  turn: Turn,
  callsNow: () => Promise<readonly string[]>,
): Promise<ExitCode> {
  let [lastAt, seen, wait] = [0, new Set<string>(), READ_MS];
  for (;;) {
    const calls = await callsNow();
    const isNew = calls.some((file) => !seen.has(file));
    if (isNew || terminal.now() - lastAt >= wait) {
      // A call that cannot be pushed now is tried again with the next reading, not each second.
      [lastAt, seen, wait] = [terminal.now(), new Set(calls), isNew ? AFTER_CALL_MS : READ_MS];
      await turn();
    }
    if (!(await terminal.sleep(SPOOL_MS))) return EXIT.done;
  }
}
