import { Heap } from "./heap.ts";
import type { Address } from "./node.ts";

/** Lends private addresses from 10.0.0.4 on, the lowest free one first. So host names are reused, as in Azure. */
export class AddressBook {
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
