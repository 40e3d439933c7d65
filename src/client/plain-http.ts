import { isPlainHttp } from "../domain/loopback.ts";

/** Origins that a warning has named: one warning in a process is enough. */
const warned = new Set<string>();

/** Warns, once for each origin, that keys and demand are sent to this address without encryption. Loopback addresses are safe. */
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
