/** What the conformance suite has the adapter start: the reference module over HTTP on the socket it is given. */
import { createReferenceModule, serveHttpReference } from '../../core/testkit/index.js';

const path = process.env['MODGATE_SOCKET'];
if (path === undefined) throw new Error('MODGATE_SOCKET must name the socket to listen on');
await serveHttpReference(createReferenceModule(), { path });
process.stdin.resume().on('end', () => process.exit());
