/** The child of the conformance suite: serves the reference module over HTTP on `MODGATE_SOCKET`. */
import { createReferenceModule, serveHttpReference } from '../../core/testkit/index.js';

const path = process.env['MODGATE_SOCKET'];
if (path === undefined) throw new Error('MODGATE_SOCKET must name the socket to listen on');
await serveHttpReference(createReferenceModule(), { path });
process.stdin.resume().on('end', () => process.exit());
