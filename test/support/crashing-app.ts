/**
 * The function app with a crash in it. The functions are the same, but every call of a port is counted, and the process kills itself at the
 * call that the environment names. Counting begins at SIGUSR2. Each counted call is printed on stdout, so that a test knows the calls at
 * which it can crash the app.
 *
 * CRASH_AT: a number, counted from 1, or the name of a call, such as "cyclecloud.create" for its first.
 * CRASH_WHEN: `before` (the call never happens) or `after` (the effect has happened, the answer is lost).
 * LOSE_TICKS=1: the wake messages that run a tick are lost; sending them still counts.
 */
import type { Ports, Site } from "../../src/app/ports/ports.ts";
import { decoratePorts } from "../../src/compose.ts";
import { loseTicks } from "./lose-ticks.ts";

const at = process.env["CRASH_AT"];
const when = process.env["CRASH_WHEN"];
let armed = false;
let calls = 0;

process.once("SIGUSR2", () => {
  armed = true;
  say({ crashing: "armed" });
});

/** Clock, entropy and log are not counted, because a crash loses nothing of theirs. */
decoratePorts((plain): Ports => countAll(process.env["LOSE_TICKS"] === "1" ? loseTicks(plain) : plain));

const countAll = (ports: Ports): Ports => ({
  ...ports,
  store: counted("store", ports.store),
  history: counted("history", ports.history),
  plans: counted("plans", ports.plans),
  nodeHistory: counted("nodeHistory", ports.nodeHistory),
  documents: counted("documents", ports.documents),
  breaker: counted("breaker", ports.breaker),
  queue: counted("queue", ports.queue),
  sites: new Map([...ports.sites].map(([name, site]) => [name, countedSite(site)])),
  policyOf: (cluster) => reach("policyOf", () => ports.policyOf(cluster)),
});

function countedSite(site: Site): Site {
  return { ...site, cyclecloud: counted("cyclecloud", site.cyclecloud) };
}

/** The port with every method counted; all methods of ports are asynchronous. */
function counted<Port extends object>(name: string, port: Port): Port {
  return new Proxy(port, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property);
      if (typeof member !== "function") return member;
      return (...parameters: readonly unknown[]) =>
        reach(`${name}.${String(property)}`, async (): Promise<unknown> => {
          return Reflect.apply(member, target, parameters);
        });
    },
  });
}

async function reach<T>(call: string, work: () => Promise<T>): Promise<T> {
  if (!armed) return work();
  calls += 1;
  const isHere = at === String(calls) || at === call;
  say({ crashing: "call", number: calls, call });
  if (isHere && when === "before") await die();
  try {
    return await work();
  } finally {
    if (isHere && when === "after") await die();
  }
}

/** Kills the process: no handler runs, nothing is flushed, sockets break. */
async function die(): Promise<void> {
  process.kill(process.pid, "SIGKILL");
  await new Promise(() => undefined);
}

function say(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

await import("../../functions/main.ts");
