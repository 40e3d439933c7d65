import type { World } from "./world.ts";

/** Starts the faults of a storm that come at moments of their own: an empty status, a shortage of VMs, and nodes that are switched off. */
export function startStormFaults(world: World): void {
  const { weather, server } = world;
  if (weather.falseEmpty) onceInStorm(world, () => server.showEmptyStatus());
  if (weather.scarce) onceInStorm(world, () => runShort(world));
  if (weather.switchOff === true) switchNodesOff(world);
}

function onceInStorm({ schedule, weather }: World, run: () => void): void {
  schedule.after(schedule.dice.whole(60_000, weather.stormSeconds * 1000), run);
}

/** Azure has only a few VMs more for a while. */
function runShort({ schedule, weather, server }: World): void {
  const { dice } = schedule;
  const array = weather.arrays[dice.whole(0, weather.arrays.length - 1)] ?? "alpha";
  server.setCapacity(array, dice.whole(0, 2));
  schedule.after(dice.whole(30_000, 180_000), () => server.setCapacity(array, undefined));
}

/** An administrator switches idle nodes off, one after the other, until the storm is over. */
function switchNodesOff(world: World): void {
  const { schedule, storm, machines, judge, server, trace } = world;
  schedule.after(schedule.dice.whole(10_000, 60_000), () => {
    if (storm.isOver) return;
    const node = machines.switchOff();
    if (node !== undefined) {
      trace("WEATHER", () => `somebody switches ${node} off`);
      judge.switchedOff(node);
      server.deallocate(node);
    }
    switchNodesOff(world);
  });
}
