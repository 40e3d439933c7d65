import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import type { ClusterName } from "../../src/domain/ids.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { MACHINE_TYPE, simulatorOptions } from "./cluster-options.ts";
import { distortStatus, nodesShown } from "./distort.ts";
import type { Judge } from "./judge.ts";
import { ORIGIN } from "./schedule.ts";
import type { Schedule } from "./schedule.ts";
import type { Standing } from "./standing.ts";
import type { Weather } from "./weather.ts";

interface Parts {
  readonly schedule: Schedule;
  readonly weather: Weather;
  readonly judge: Judge;
  readonly standing: Standing;
}

/** CycleCloud as the processes of a run reach it: the simulator, with the false answers and the failing nodes of the weather. */
export class ClusterServer {
  readonly simulator: Simulator;
  readonly #cluster: ClusterName;
  readonly #schedule: Schedule;
  readonly #weather: Weather;
  readonly #judge: Judge;
  readonly #standing: Standing;
  readonly #shares: {
    bootFailureShare: number;
    neverBootShare: number;
    terminationFailureShare: number;
    startRefusalShare: number;
  };
  #emptyNext = false;

  constructor(cluster: ClusterName, { schedule, weather, judge, standing }: Parts, seed: number) {
    this.#cluster = cluster;
    this.#schedule = schedule;
    this.#weather = weather;
    this.#judge = judge;
    this.#standing = standing;
    const { bootFailureShare, neverBootShare, terminationFailureShare, deallocates } = weather;
    const startRefusalShare = deallocates?.refused ?? 0;
    this.#shares = { bootFailureShare, neverBootShare, terminationFailureShare, startRefusalShare };
    // The simulator reads the shares when it needs them: calmDown sets them to 0.
    const options = Object.assign(this.#shares, simulatorOptions(cluster, weather, seed));
    this.simulator = new Simulator(options, { now: () => schedule.now() - standing.behindMs });
  }

  /** When the next change of a node happens. */
  nextEventAt(): number {
    const due = this.simulator.nextEventAt();
    return due === undefined ? Number.POSITIVE_INFINITY : this.#standing.happensAt(due);
  }

  /** Answers a request at once. */
  answer(request: TransportRequest): Answer {
    const isStatus = request.path.endsWith("/status");
    if (this.#emptyNext && isStatus) {
      this.#emptyNext = false;
      this.simulator.faults.falseEmptyStatus(1);
      this.#judge.falselyEmpty();
    }
    const answer = this.simulator.request(request);
    const { lasting } = this.#weather;
    if (lasting === undefined || !isStatus || answer.status !== 200) return answer;
    const at = (this.#schedule.now() - ORIGIN) / 1000;
    const shown = distortStatus(answer.body, lasting, at);
    for (const { nodeId, ready } of nodesShown(shown)) this.#judge.shown(nodeId, ready);
    return { ...answer, body: shown };
  }

  /** The next status shows no node at all. */
  showEmptyStatus(): void {
    this.#emptyNext = true;
  }

  /** Sets how many more VMs Azure has for the array. Undefined: enough. */
  setCapacity(array: string, left: number | undefined): void {
    this.simulator.faults.setCapacity(array, MACHINE_TYPE, left);
  }

  /** An administrator deallocates the node. */
  deallocate(nodeId: string): void {
    const path = `/clusters/${this.#cluster}/nodes/deallocate`;
    this.simulator.request({ method: "POST", path, query: {}, body: { ids: [nodeId] } });
  }

  /** Ends what the storm does to CycleCloud. */
  calmDown(): void {
    const none = { bootFailureShare: 0, neverBootShare: 0, terminationFailureShare: 0, startRefusalShare: 0 };
    Object.assign(this.#shares, none);
    this.#emptyNext = false;
    for (const array of this.#weather.arrays) this.setCapacity(array, undefined);
  }
}
