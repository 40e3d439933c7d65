/** Whether a host (as in `URL.hostname`) is this machine itself: what is sent there crosses no network. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}

/** Whether an address is plain http to another machine: whoever is on the way reads what is sent, keys included. */
export function isPlainHttp(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "http:" && !isLoopback(hostname);
}

/**
 * Whether a request comes from a web page of another origin: browsers name the page's origin, other callers send none. `host` is the
 * request's own Host header. A page can make a name of its own lead to this machine, so the origin must be this machine by its name, too.
 */
export function isForeignOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined) return false;
  if (!URL.canParse(origin)) return true;
  const url = new URL(origin);
  return url.protocol !== "http:" || url.host !== host || !isLoopback(url.hostname);
}
