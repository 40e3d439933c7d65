import type { Statement } from "./other-autoscaler.ts";

/**
 * Counts the virtual fleet by the rules of docs/cli.md ("The comparison") alone, for one array whose jobs need one whole node each. It gets
 * the scheduler's statements and the times of the app's observations, and shares no code with the planner.
 */
export interface VirtualCount {
  readonly boots: number;
  readonly peak: number;
  readonly nodeSeconds: number;
  readonly idleSeconds: number;
  /** Total time for which jobs are neither on a node that is up nor could start on one. */
  readonly waitingSeconds: number;
  /**
   * No rule says which of several idle nodes takes a job. Another choice may move a stop by as much as the idle times of these nodes
   * differ. The total of node-seconds that such choices may move.
   */
  readonly byChoice: number;
}

interface Kept {
  readonly upAt: number;
  /** The real host whose job it runs. */
  host: string | undefined;
  /** The first observation at which it was up and had no job. */
  idleSince: number | undefined;
  isMarked: boolean;
  stoppedAt: number | undefined;
}

const IDLE_TIMEOUT_MS = 300_000;
const GONE_AFTER_MS = 60_000;

export function countVirtual(
  statements: readonly Statement[],
  looks: readonly number[],
  /** How long a virtual node boots that is created at this moment. */
  bootSeconds: (at: number) => number,
): VirtualCount {
  let nodes: Kept[] = [];
  const count = { boots: 0, peak: 0, nodeSeconds: 0, idleSeconds: 0, waitingSeconds: 0, byChoice: 0 };
  let stated = -1;
  let made = 0;
  for (const [i, now] of looks.entries()) {
    while ((statements[stated + 1]?.at ?? Infinity) <= now) stated += 1;
    const { waiting = 0, hosts = [] } = statements[stated] ?? {};
    nodes = nodes.filter(({ stoppedAt }) => stoppedAt === undefined || now - stoppedAt < GONE_AFTER_MS);
    count.byChoice += choiceSeconds(nodes, hosts, waiting, now);
    const lacking = placeJobs(nodes, hosts, now);
    const seconds = (now - (looks[i - 1] ?? now)) / 1000;
    const needed = new Set(free(nodes).slice(0, waiting + lacking));
    const idle = nodes.filter((node) => isUp(node, now) && node.host === undefined && !needed.has(node));
    count.nodeSeconds += nodes.length * seconds;
    count.idleSeconds += idle.length * seconds;
    const served = nodes.filter((node) => isUp(node, now) && (node.host !== undefined || needed.has(node)));
    count.waitingSeconds += (waiting + hosts.length - served.length) * seconds;
    count.peak = Math.max(count.peak, nodes.length);
    stopIdle(idle, nodes, now);
    // A boot counts at the observation that finds the node: the next one.
    count.boots += made;
    made = waiting + lacking - needed.size;
    for (let n = 0; n < made; n += 1)
      nodes.push({
        upAt: now + bootSeconds(now) * 1000,
        host: undefined,
        idleSince: undefined,
        isMarked: false,
        stoppedAt: undefined,
      });
  }
  return count;
}

const isUp = ({ upAt, stoppedAt }: Kept, now: number): boolean => upAt <= now && stoppedAt === undefined;

const free = (nodes: readonly Kept[]): readonly Kept[] =>
  nodes.filter(({ host, stoppedAt }) => host === undefined && stoppedAt === undefined);

function choiceSeconds(
  nodes: readonly Kept[],
  hosts: readonly string[],
  waiting: number,
  now: number,
): number {
  const known = new Set(nodes.map(({ host }) => host));
  const jobs = waiting + hosts.filter((host) => !known.has(host)).length;
  const clocks = free(nodes).map(({ idleSince = now }) => idleSince);
  if (jobs === 0 || jobs >= clocks.length) return 0;
  return (jobs * (Math.max(...clocks) - Math.min(...clocks))) / 1000;
}

/** Each real host with a job keeps its node, or takes a free one: one that is up before one that boots. Returns how many find none. */
function placeJobs(nodes: readonly Kept[], hosts: readonly string[], now: number): number {
  const busy = new Set(hosts);
  for (const node of nodes) if (node.host !== undefined && !busy.has(node.host)) node.host = undefined;
  const placed = new Set(nodes.map(({ host }) => host));
  let lacking = 0;
  for (const host of hosts) {
    if (placed.has(host)) continue;
    const open = free(nodes);
    const node = open.find((one) => isUp(one, now)) ?? open[0];
    if (node === undefined) lacking += 1;
    else node.host = host;
  }
  for (const node of nodes) {
    const isFree = node.host === undefined && isUp(node, now);
    node.idleSince = isFree ? (node.idleSince ?? now) : undefined;
    node.isMarked &&= isFree;
  }
  return lacking;
}

/** A node is marked when the idle timeout is over, and stopped at the next observation that still finds it idle. */
function stopIdle(idle: readonly Kept[], nodes: readonly Kept[], now: number): void {
  const isIdle = new Set(idle);
  for (const node of nodes) {
    if (!isIdle.has(node)) node.isMarked = false;
    else if (node.isMarked) node.stoppedAt = now;
    else node.isMarked = now - (node.idleSince ?? now) >= IDLE_TIMEOUT_MS;
  }
}
