import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { text } from "node:stream/consumers";
import type { CommandEnd } from "../cli/run-command.ts";
import { runCommand } from "../cli/run-command.ts";
import { CONFIGS, MAPPING_TEXT, SCENES } from "./stage.ts";

/**
 * Programs of Slurm that print what lies in a folder, and note each call that would change something. `after-show`, if it is there, is what
 * scontrol shows once it was asked for single nodes.
 */
const SCONTROL = `cd "$STAGE"
case "$1 $2" in
  "show nodes") [ -n "$3" ] && [ -e after-show ] && cp after-show nodes; [ -e broken ] && { echo "Unable to contact slurm controller" >&2; exit 1; }; cat nodes ;;
  "show config") cat config ;;
  "show job") cat "job-$3" ;;
  "ping ") cat ping ;;
  *) echo "$*" >> changes ;;
esac`;
const SQUEUE = `cat "$STAGE/squeue"`;

/** A scheduler's machine, with a Slurm that was recorded and an app that answers what the test says. */
export interface Site {
  readonly folder: string;
  readonly url: string;
  readonly write: (file: string, text: string) => void;
  readonly read: (file: string) => string;
  readonly edit: (file: string, from: string | RegExp, to: string) => void;
  readonly exists: (file: string) => boolean;
  readonly play: (scene: string) => void;
  /** Messages that the app accepted. */
  readonly pushed: Record<string, unknown>[];
  /** Sets that were emptied. */
  readonly emptied: string[];
  readonly app: { names: readonly object[]; modes: Record<string, string>; status: number; age: number };
  readonly agent: (...words: readonly string[]) => Promise<CommandEnd>;
}

export async function openSite(scene: string, mapping = MAPPING_TEXT): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), "agent-"));
  // A child of a shim may still write.
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 50, retryDelay: 100 }));
  const write = (file: string, content: string): void => writeFileSync(join(folder, file), content);
  for (const name of ["bin", "state", "state/spool", "memory"]) mkdirSync(join(folder, name));
  for (const [name, script] of Object.entries({ scontrol: SCONTROL, squeue: SQUEUE })) {
    write(`bin/${name}`, `#!/bin/bash\n${script}\n`);
    chmodSync(join(folder, "bin", name), 0o755);
  }
  const play = (name: string): void => {
    write("nodes", SCENES.get(name)?.nodes ?? "");
    write("squeue", SCENES.get(name)?.squeue ?? "");
  };
  play(scene);
  write("config", CONFIGS["22.05"] ?? "");
  write("ping", `Slurmctld(primary) at ${hostname()} is UP\n`);
  write("slurm.map", mapping.replace(/state=.*/, `state=${folder}/state\nmemory=${folder}/memory`));
  const app: Site["app"] = { names: [], modes: {}, status: 200, age: 2 };
  const pushed: Site["pushed"] = [];
  const emptied: string[] = [];
  const url = await openApp(app, pushed, emptied);
  const environment = { PATH: `${folder}/bin:${process.env["PATH"]}`, STAGE: folder };
  const files = { "slurm.map": "" };
  return {
    folder,
    url,
    write,
    play,
    pushed,
    emptied,
    app,
    read: (file) => (existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : ""),
    edit: (file, from, to) => write(file, readFileSync(join(folder, file), "utf8").replace(from, to)),
    exists: (file) => existsSync(join(folder, file)),
    agent: (...words) =>
      runCommand(
        ["agent", "--scheduler", "slurm", "--file", "slurm.map", "--url", url, "--key", "k", ...words],
        { ...files, "slurm.map": readFileSync(join(folder, "slurm.map"), "utf8") },
        { environment },
      ),
  };
}

async function openApp(app: Site["app"], pushed: Site["pushed"], emptied: string[]): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      // It takes the message and does not answer.
      if (app.status === 0) return;
      response.statusCode = app.status;
      const answer = app.status === 200 ? answerTo(request.method, request.url ?? "", body) : {};
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer));
    });
  });
  const answerTo = (method: string | undefined, path: string, body: string): object => {
    if (method === "PUT") pushed.push({ path, ...JSON.parse(body) });
    if (method === "DELETE") emptied.push(path);
    if (path.includes("/request-sets/")) return { names: app.names };
    const nodearrays = Object.entries(app.modes).map(([name, mode]) => ({ name, mode }));
    return { health: { ok: true, lastLookAgeSeconds: app.age }, nodearrays };
  };
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
