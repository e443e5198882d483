import { useConsole } from '../../support/console/use-console.js';
import { describeApprovals } from './pages/approvals.js';
import { describeAudit } from './pages/audit.js';
import { describeCalls } from './pages/calls.js';
import { describeCandidate } from './pages/candidate.js';
import { describeDenials } from './pages/denials.js';
import { describeEveryPage } from './pages/every-page.js';
import { describeInjection } from './pages/injection.js';
import { describeModuleConfig } from './pages/module-config.js';
import { describeModuleData } from './pages/module-data.js';
import { describeModuleGrants } from './pages/module-grants.js';
import { describeModulePages } from './pages/module-pages.js';
import { describeOverview } from './pages/overview.js';
import { describeReleases } from './pages/releases.js';
import { describeRestart } from './pages/restart.js';
import { describeSignIn } from './pages/sign-in.js';

/** All pages are in one file: they share a browser and a host. */
describe('the console in a browser', () => {
  const setup = useConsole();

  describeSignIn(setup);
  describe('a page', () => describeEveryPage(setup));
  describeModulePages(setup);
  describeModuleData(setup);
  describeModuleConfig(setup);
  describeModuleGrants(setup);
  describeCandidate(setup);
  describeCalls(setup);
  describeOverview(setup);
  describeDenials(setup);
  describeAudit(setup);
  describeApprovals(setup);
  describeReleases(setup);
  describeInjection(setup);
  describeRestart(setup);
});
