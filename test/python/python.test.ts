import { jetpackSuite } from "./jetpack-suite.ts";
import { sendingSuite } from "./sending-suite.ts";

/** Under the python3 of this machine, which is needed: `npm run test:deep` plays the same under the oldest and the newest. */
const PYTHON = "python3";

sendingSuite(PYTHON);
jetpackSuite(PYTHON);
