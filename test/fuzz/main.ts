import { Crew } from "./crew.ts";
import { describe, readDoor, tryOne } from "./fuzz.ts";
import { DOORS } from "./input.ts";

/**
 * Plays seeds of doors: `node test/fuzz/main.ts DOOR|all [FIRST [LAST]]`. Prints the first failure of each kind, cut down; ends with 1 if there was one.
 */
const [door = "all", from = "1", to = from] = process.argv.slice(2);
const doors = door === "all" ? DOORS : [readDoor(door)];
const crew = new Crew();
const known = new Set<string>();
for (let seed = Number(from); seed <= Number(to); seed += 1) {
  for (const one of doors) {
    const failure = await tryOne(crew, one, seed, (kind) => known.has(kind));
    if (failure === undefined) continue;
    known.add(failure.fault.kind);
    process.stdout.write(`${describe(failure)}\n`);
  }
}
await crew.end();
process.stdout.write(`${known.size} kinds of failure\n`);
process.exitCode = known.size === 0 ? 0 : 1;
