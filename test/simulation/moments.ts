import type { Judge } from "./judge.ts";
import type { Schedule } from "./schedule.ts";
import type { Storage } from "./storage.ts";
import type { Lasting, Weather } from "./weather.ts";

/** Time between two checks of the deadlines. */
const SAMPLE_MS = 5000;
/** Minimum and maximum age of a backup when it is restored, in seconds. */
const BACKUP_AGE = [30, 150] as const;

interface World {
  readonly schedule: Schedule;
  readonly weather: Weather;
  readonly lasting: Lasting;
  readonly judge: Judge;
  readonly storage: Storage;
  readonly crashAll: () => void;
  readonly trace: (what: string) => void;
}

/** Starts what happens, or is judged, at fixed moments in weather that lasts. */
export function startMoments(world: World): void {
  const { schedule, weather, lasting, judge } = world;
  const [array = ""] = weather.arrays;
  const sample = (): void => {
    judge.pace.sample(weather.arrays);
    schedule.after(SAMPLE_MS, sample);
  };
  sample();
  if (lasting.storage !== undefined) failStorage(world, lasting.storage);
  const atEnd = (judgeIt: () => void): void => schedule.after(weather.stormSeconds * 1000, judgeIt);
  if (lasting.vanish?.beforeReady === 1) atEnd(() => judge.noneBecameReady(array, weather.nodesPerArray));
  const { stops } = lasting;
  if (stops !== undefined) atEnd(() => judge.stopsWereDue(array, stops.nodes));
}

function failStorage(
  { schedule, weather, judge, storage, crashAll, trace }: World,
  { at, how, restart }: NonNullable<Lasting["storage"]>,
): void {
  const age = schedule.dice.whole(...BACKUP_AGE);
  if (how === "set-back") schedule.after((at - age) * 1000, () => storage.backUp());
  schedule.after(at * 1000, () => {
    trace(`storage: ${how}`);
    storage.fail(how);
    judge.forget(weather.nodesPerArray);
    if (restart) crashAll();
  });
}
