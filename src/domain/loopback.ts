/** True if a host (as in `URL.hostname`) is this machine, so that requests to it cross no network. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}

/** A host with a user in front of it is none that a client sends. */
function isForeignHost(host: string | undefined): boolean {
  if (host === undefined) return false;
  if (!URL.canParse(`http://${host}`)) return true;
  const { hostname, username } = new URL(`http://${host}`);
  return username !== "" || !isLoopback(hostname);
}

/** True if an address is plain http to another machine. Anyone on the network path can read the traffic, including keys. */
export function isPlainHttp(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "http:" && !isLoopback(hostname);
}

/**
 * True if a request to a server of this machine comes from a web page of another origin. Browsers send the page's origin with all that may
 * change something, other callers send none. `host` is the request's Host header. A page can make a name of its own resolve to this
 * machine, and then read from it, so the host must be this machine by name.
 */
export function isForeignOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (isForeignHost(host)) return true;
  if (origin === undefined) return false;
  if (!URL.canParse(origin)) return true;
  const url = new URL(origin);
  return url.protocol !== "http:" || url.host !== host || !isLoopback(url.hostname);
}
