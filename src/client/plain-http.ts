import { isPlainHttp } from "../domain/loopback.ts";

/** Origins that were warned of: once in a process is enough. */
const warned = new Set<string>();

/** Warns, once for each origin, of an address to which keys and demand go unencrypted. Loopback addresses are no concern. */
export function warnOfPlainHttp(
  address: string,
  warn: (message: string) => void = (message) => process.emitWarning(message, "AutoscalerWarning"),
): void {
  if (!isPlainHttp(address)) return;
  const { origin } = new URL(address);
  if (warned.has(origin)) return;
  warned.add(origin);
  warn(`${origin} is plain http: others on the network can read the key and change what is sent; use https`);
}
