import { adapterSuite } from '../../core/testkit/index.js';
import { subjects as http } from '../../plugins/http/testkit.js';
import { subjects as local } from '../../plugins/local/testkit.js';
import { subjects as process } from '../../plugins/process/testkit.js';

for (const subject of [...http, ...local, ...process]) adapterSuite(subject);
