import { Crew } from "./crew.ts";
import { describe, readDoor, tryOne } from "./fuzz.ts";
import { DOORS } from "./input.ts";

/**
 * Plays seeds of doors: `node test/fuzz/main.ts DOOR|all [FIRST [LAST]]`. Prints each failure, cut down; ends with 1 if there was one.
 */
const [door = "all", from = "1", to = from] = process.argv.slice(2);
const doors = door === "all" ? DOORS : [readDoor(door)];
const crew = new Crew();
let failures = 0;
for (let seed = Number(from); seed <= Number(to); seed += 1) {
  for (const one of doors) {
    const failure = await tryOne(crew, one, seed);
    if (failure === undefined) continue;
    failures += 1;
    process.stdout.write(`${describe(failure)}\n`);
  }
}
await crew.end();
process.stdout.write(`${failures} failures\n`);
process.exitCode = failures === 0 ? 0 : 1;
