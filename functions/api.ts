/** The HTTP API (design.md section 4), a file per subject. Every route names its key level: the model's default is anonymous. */
import "./request-sets.ts";
import "./clusters.ts";
import "./explain.ts";
import "./history.ts";
import "./comparison.ts";
import "./plan.ts";
import "./restored.ts";
import "./wake.ts";
import "./config.ts";
import "./health.ts";
import "./openapi.ts";
