/** The one entry of the function app: what is imported here is registered, and nothing else is. */
import "./start.ts";
import "./demand.ts";
import "./snapshot.ts";
import "./autostop.ts";
import "./api.ts";
