import { quotaRoomsOf, tightest, groupPrefix, Usage } from "./limits.ts";
import type { Address, SimulatedNode } from "./node.ts";
import type { QuotaOptions, Quirks } from "./options.ts";
import type { World, Bucket } from "./world.ts";
import { Heap } from "./heap.ts";

/** What nodes hold: their share of each limit and quota, a VM of Azure's capacity, an address, and a place in a scale set. */
export class Holdings {
  /** The usage of all nodes. Limits are enforced on it. */
  readonly real = new Usage();
  /** The usage of the nodes that show. A status reports it. */
  readonly shown = new Usage();
  readonly scaleSets: ScaleSets;
  readonly #quotas: QuotaOptions;
  readonly #addresses = new AddressBook();

  constructor({ quotas, quirks }: World) {
    this.#quotas = quotas;
    this.scaleSets = new ScaleSets(quirks);
  }

  /** A new node takes everything except an address. The caller has checked the limits. */
  admit(node: SimulatedNode): void {
    this.real.add(node.keys.active, 1, node.machine.vcpuCount);
    this.real.add(node.keys.quota, 1, node.machine.quotaCores);
    this.scaleSets.join(node);
    if (node.bucket?.capacityLeft !== undefined) node.bucket.capacityLeft -= 1;
  }

  /** Reports everything that the node holds. */
  show(node: SimulatedNode): void {
    this.showActive(node);
    if (node.holdsQuota) this.shown.add(node.keys.quota, 1, node.machine.quotaCores);
  }

  /** Reports the node as active, if it is. */
  showActive(node: SimulatedNode): void {
    if (node.holdsActive) this.shown.add(node.keys.active, 1, node.machine.vcpuCount);
  }

  /** Counts a deallocated node as active again. It is reported at once unless it is veiled. */
  takeActive(node: SimulatedNode): void {
    node.holdsActive = true;
    this.real.add(node.keys.active, 1, node.machine.vcpuCount);
    if (node.veil === undefined) this.showActive(node);
  }

  /** The quota that leaves no room for a node that has released its own. Undefined if there is room. */
  findQuotaShortage(node: SimulatedNode): string | undefined {
    if (node.holdsQuota) return undefined;
    const room = tightest(quotaRoomsOf(node, this.#quotas, this.real));
    return room.left < 1 ? room.limit : undefined;
  }

  takeQuota(node: SimulatedNode): void {
    if (node.holdsQuota) return;
    node.holdsQuota = true;
    for (const usage of [this.real, this.shown]) usage.add(node.keys.quota, 1, node.machine.quotaCores);
  }

  /** Takes one of the VMs that Azure has left. Returns false if there is none. */
  takeCapacity(node: SimulatedNode, now: number): boolean {
    const { bucket } = node;
    if (bucket?.capacityLeft !== undefined && bucket.capacityLeft <= 0) {
      bucket.lastCapacityFailureAt = now;
      return false;
    }
    if (bucket?.capacityLeft !== undefined) bucket.capacityLeft -= 1;
    node.holdsCapacity = true;
    return true;
  }

  lendAddress(instanceId: string): Address {
    return this.#addresses.lend(instanceId);
  }

  releaseActive(node: SimulatedNode): void {
    if (!node.holdsActive) return;
    node.holdsActive = false;
    this.real.add(node.keys.active, -1, node.machine.vcpuCount);
    if (node.shown) this.shown.add(node.keys.active, -1, node.machine.vcpuCount);
  }

  releaseQuota(node: SimulatedNode): void {
    if (!node.holdsQuota) return;
    node.holdsQuota = false;
    this.real.add(node.keys.quota, -1, node.machine.quotaCores);
    if (node.shown) this.shown.add(node.keys.quota, -1, node.machine.quotaCores);
  }

  releaseCapacity(node: SimulatedNode): void {
    if (!node.holdsCapacity) return;
    node.holdsCapacity = false;
    if (node.bucket?.capacityLeft !== undefined) node.bucket.capacityLeft += 1;
  }

  /** The VM is deleted: everything that the node holds is free again. */
  releaseAll(node: SimulatedNode): void {
    this.releaseActive(node);
    this.releaseQuota(node);
    if (node.address !== undefined) this.#addresses.takeBack(node.address);
    node.address = undefined;
    this.scaleSets.leave(node);
    this.releaseCapacity(node);
  }
}

/** Lends private addresses from 10.0.0.4 on, the lowest free one first. So host names are reused, as in Azure. */
class AddressBook {
  readonly #free = new Heap<number>((a, b) => a - b);
  #next = 4;

  /** The host name is the address in hexadecimal, as in CycleCloud's stand-alone DNS (cyclecloud-wire.md A.4). */
  lend(instanceId: string): Address {
    const number = this.#free.pop() ?? this.#next++;
    const bytes = [10, (number >> 16) & 255, (number >> 8) & 255, number & 255];
    const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0").toUpperCase()).join("");
    return { number, hostname: `ip-${hex}`, privateIp: bytes.join("."), instanceId };
  }

  takeBack(address: Address): void {
    this.#free.push(address.number);
  }
}

/**
 * The attributes that all nodes of a placement group must have: those of its first node, until the group is empty again. A node with other
 * attributes never gets its VM (cyclecloud-wire.md A.6).
 */
class ScaleSets {
  readonly #mustMatch: boolean;
  readonly #groups = new Map<string, { readonly signature: string; readonly nodes: number }>();

  constructor({ scaleSetAttributesMustMatch }: Pick<Quirks, "scaleSetAttributesMustMatch">) {
    this.#mustMatch = scaleSetAttributesMustMatch;
  }

  /** The permanent message of a new node with this signature. Undefined if the signature matches. */
  findMismatch(bucket: Bucket, group: string | undefined, signature: string): string | undefined {
    if (group === undefined || !this.#mustMatch) return undefined;
    const known = this.#groups.get(groupPrefix(bucket) + group);
    if (known === undefined || known.signature === signature) return undefined;
    return "This node does not match existing scaleset attributes: Configuration";
  }

  join(node: SimulatedNode): void {
    this.#count(node, 1);
  }

  leave(node: SimulatedNode): void {
    this.#count(node, -1);
  }

  #count(node: SimulatedNode, change: 1 | -1): void {
    if (node.bucket === undefined || node.group === undefined) return;
    const key = groupPrefix(node.bucket) + node.group;
    const known = this.#groups.get(key);
    const nodes = (known?.nodes ?? 0) + change;
    if (nodes === 0) this.#groups.delete(key);
    else this.#groups.set(key, { signature: known?.signature ?? node.signature, nodes });
  }
}
