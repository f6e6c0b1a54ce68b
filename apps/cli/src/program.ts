import { VERSION } from '@spout/runtime/version'
import { Command } from 'commander'
import { addAudit } from './commands/checks/audit.ts'
import { addConformance } from './commands/checks/conformance.ts'
import { addLeaks } from './commands/checks/leaks.ts'
import { addCompletion } from './commands/completion/completion.ts'
import type { CommandContext } from './commands/connections/context.ts'
import { addDoctor } from './commands/doctor/doctor.ts'
import { addExplain } from './commands/explain/explain.ts'
import { addVip } from './commands/explain/vip.ts'
import { addImportIngressNginx } from './commands/imports/import-ingress-nginx.ts'
import { addImport } from './commands/imports/import-metallb.ts'
import { addImportOctavia } from './commands/imports/import-octavia.ts'
import { addImportVipProjects } from './commands/imports/import-vip-projects.ts'
import { addNodeMove } from './commands/nodes/node-move.ts'
import { addNodeScheduling } from './commands/nodes/node-scheduling.ts'
import { addRebalance } from './commands/nodes/rebalance.ts'
import { addDomainClaim } from './commands/nouns/domain-claim.ts'
import { addNoun } from './commands/nouns/noun-command.ts'
import { addQuota } from './commands/nouns/quota.ts'
import { addPlan } from './commands/plan/plan.ts'
import { addStoreMigrate } from './commands/store/store-migrate.ts'
import { addTop } from './commands/top/top.ts'
import { addUpgrade } from './commands/upgrade/upgrade.ts'
import { collection, completeLoadBalancer, completeNetwork, completeOwned, completeToken } from './nouns/collection.ts'
import type { Noun } from './nouns/noun.ts'
import { listeners, members, pools, subnets } from './nouns/parts.ts'
import { users } from './nouns/users.ts'
import { applicationCredential } from './resources/application-credentials.ts'
import { bgpAdvertisement, bgpPeer } from './resources/bgp.ts'
import { certificate } from './resources/certificates.ts'
import { domain } from './resources/domains.ts'
import { loadBalancerClass } from './resources/load-balancer-classes.ts'
import { listener, loadBalancer } from './resources/load-balancers.ts'
import { node, nodeGroup } from './resources/nodes.ts'
import { member, pool } from './resources/pools.ts'
import type { Resource } from './resources/resource.ts'
import { address, addressPool, network, project, subnet, token, user } from './resources/system.ts'

const NOUNS: readonly (readonly [Resource, Noun])[] = [
  [loadBalancer, collection(loadBalancer, completeLoadBalancer)],
  [listener, listeners],
  [pool, pools],
  [member, members],
  [network, collection(network, completeNetwork)],
  [subnet, subnets],
  [addressPool, collection(addressPool)],
  [address, collection(address)],
  [loadBalancerClass, collection(loadBalancerClass)],
  [node, collection(node)],
  [nodeGroup, collection(nodeGroup)],
  [bgpPeer, collection(bgpPeer)],
  [bgpAdvertisement, collection(bgpAdvertisement)],
  [certificate, collection(certificate, completeOwned)],
  [project, collection(project)],
  [domain, collection(domain)],
  [user, users(user)],
  [applicationCredential, collection(applicationCredential)],
  [token, collection(token, completeToken)],
]

/** The `spout` command. Composition only. */
export function buildProgram(context: CommandContext): Command {
  const program = new Command('spout')
    .description('load balancers for clouds that have none')
    .version(VERSION, '--version', 'output the version number')
    .addHelpText(
      'after',
      '\nSPOUT_ENDPOINT is the address of the control plane, or of several, separated by commas; SPOUT_TOKEN is your token.',
    )
    .showSuggestionAfterError()
    .exitOverride()
  for (const [resource, noun] of NOUNS) addNoun(program, resource, noun, context)
  addQuota(program, context)
  addDomainClaim(program, context)
  addNodeScheduling(program, context)
  addNodeMove(program, context)
  addRebalance(program, context)
  addVip(program, context)
  addTop(program, context)
  addStoreMigrate(program, context)
  addExplain(program, context)
  addPlan(program, context)
  addImport(program, context)
  addImportVipProjects(program, context)
  addImportOctavia(program, context)
  addImportIngressNginx(program, context)
  addAudit(program, context)
  addLeaks(program, context)
  addDoctor(program, context)
  addUpgrade(program, context)
  addConformance(program, context)
  addCompletion(program, context)
  return program
}
