import type { Machines } from "./machines.ts";
import { ORIGIN } from "./schedule.ts";
import type { Lasting, Weather } from "./weather.ts";
import type { Outlet, Writer } from "./writers.ts";
import { startJobWriter } from "./job-writer.ts";
import { startSlurm } from "./slurm-writer.ts";
import { startForeign, startRenewer, startStepWriter } from "./writers.ts";

const FOR_EVER = 1e7;
/** Nodes that are to ask one after the other have this long to boot. */
const BOOTED_BY_SECONDS = 150;

/** Starts the demand of weather that lasts. `sets`: there is no other demand; otherwise the request sets of the storms come too. */
export function startLastingWriters(
  outlet: Outlet,
  weather: Weather,
  lasting: Lasting,
  machines: Machines,
): { readonly writers: readonly Writer[]; readonly sets: boolean } {
  const { arrays, nodesPerArray: most } = weather;
  const [array = "alpha", other = "beta"] = arrays;
  const { dice } = outlet.schedule;
  const writers: Writer[] = [];
  for (let index = 0; index < (lasting.renewals ?? 0); index += 1)
    writers.push(startRenewer(outlet, `renewal-${index}`, array, 4000, true));
  const { stops, dips, stepSeconds, named } = lasting;
  if (named !== undefined) {
    writers.push(startSlurm(outlet, named, machines));
    writers.push(startForeign(outlet, named));
  } else if (stops !== undefined) {
    writers.push(...startStops(outlet, array, other, stops, machines));
  } else if (dips !== undefined) {
    let low = false;
    const next = (): Stand => {
      low = !low;
      return low
        ? { count: most, seconds: dice.whole(110, 220) }
        : { count: dice.whole(0, Math.floor(most / 2)), seconds: dice.whole(...dips) };
    };
    writers.push(startStepWriter(outlet, "dips", array, next));
    if (weather.reports || dice.chance(0.5))
      writers.push(startJobWriter(outlet, "jobs", array, weather.reports ? 0 : 3, machines, weather.reports));
  } else if (stepSeconds !== undefined) {
    const early = pulsesOf(lasting, most);
    const next = (): Stand =>
      early.shift() ?? {
        count: dice.whole(Math.ceil(most / 2), most),
        seconds: dice.whole(stepSeconds, Math.round(1.3 * stepSeconds)),
      };
    writers.push(startStepWriter(outlet, "steps", array, next));
  } else {
    return { writers, sets: false };
  }
  return { writers, sets: true };
}

interface Stand {
  readonly count: number;
  readonly seconds: number;
}

function pulsesOf({ pulse }: Lasting, most: number): Stand[] {
  if (pulse === undefined) return [];
  const [high, low] = pulse;
  return [
    { count: most, seconds: high },
    { count: 0, seconds: low },
  ];
}

/** All nodes of one array are idle and ask one after the other, while the demand of the other array changes. */
function startStops(
  outlet: Outlet,
  array: string,
  other: string,
  { nodes, everySeconds }: NonNullable<Lasting["stops"]>,
  machines: Machines,
): readonly Writer[] {
  const { dice } = outlet.schedule;
  let turn = 0;
  machines.askFrom((of) => {
    if (of !== array) return outlet.schedule.now();
    turn += 1;
    return ORIGIN + (BOOTED_BY_SECONDS + turn * everySeconds) * 1000;
  });
  let begun = false;
  const drop = (): Stand => {
    const first = !begun;
    begun = true;
    return first ? { count: nodes, seconds: BOOTED_BY_SECONDS } : { count: 0, seconds: FOR_EVER };
  };
  const change = (): Stand => ({
    count: dice.whole(0, 6),
    seconds: dice.whole(40, 90),
  });
  return [startStepWriter(outlet, "large", array, drop), startStepWriter(outlet, "small", other, change)];
}
