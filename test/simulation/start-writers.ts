import { startJobWriter } from "./job-writer.ts";
import { startLastingWriters } from "./lasting-writers.ts";
import type { World } from "./world.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import { CLUSTER } from "./world.ts";
import type { Outlet } from "./writers.ts";
import { startRenewer, startTargetWriter } from "./writers.ts";

/** Starts the senders of demand: those of the lasting weather, those of the request sets, and the crowd. */
export function startWriters(world: World): void {
  const { weather, writers, machines } = world;
  const { arrays, lasting } = weather;
  const outlet = outletOf(world);
  if (lasting !== undefined) {
    const found = startLastingWriters(outlet, weather, lasting, machines);
    writers.push(...found.writers);
    if (found.sets) return;
  }
  startSets(world, outlet);
  if (!weather.crowd) return;
  for (let index = 0; index < 12; index += 1)
    writers.push(startRenewer(outlet, `crowd-${index}`, arrays[0] ?? "alpha", 3000));
}

/** One writer for each request set: of jobs, or of targets. */
function startSets({ schedule, weather, writers, machines }: World, outlet: Outlet): void {
  const { sets, arrays, nodesPerArray, reports } = weather;
  for (let index = 0; index < sets; index += 1) {
    const set = `set-${index}`;
    const array = arrays[index % arrays.length] ?? "alpha";
    writers.push(
      schedule.dice.chance(reports ? 0.8 : 0.4)
        ? startJobWriter(outlet, set, array, nodesPerArray, machines, reports)
        : startTargetWriter(outlet, set, array, nodesPerArray + 1),
    );
  }
}

function outletOf({ schedule, weather, judge, fronts, line, races, trace }: World): Outlet {
  return {
    schedule,
    cluster: CLUSTER,
    reportsApart: weather.reportsApart === true,
    noticesGone: weather.lasting !== undefined,
    renewSeconds:
      weather.lasting?.isCalm === true ? { steps: 100, jobs: [40, 90] } : { steps: 40, jobs: [20, 60] },
    send: (update, told) => {
      trace("WRITER", () => JSON.stringify(told));
      judge.sent(told);
      const wait = fronts.waitOf(update.set);
      if (wait === 0) return line.send(update, races.rushTo);
      if (wait === undefined) return;
      return schedule.after(wait, () => {
        // Half of the sets come by HTTP: they count as sent when they arrive.
        const late = isPushed(update.set) ? wait : 0;
        judge.sent({ ...told, expiresAt: told.expiresAt + late });
        line.send({
          ...update,
          sentAt: plusSeconds(update.sentAt, late / 1000),
          expiresAt: plusSeconds(update.expiresAt, late / 1000),
        });
      });
    },
  };
}

/** Whether a set comes by HTTP rather than by queue: that of every other name. */
function isPushed(set: string): boolean {
  return set.charCodeAt(set.length - 1) % 2 === 0;
}
