import { ApiProblem, call } from '@spout/client/api'
import { SpoutError } from '@spout/model/errors'
import type { Command } from 'commander'
import { findByName, scopedTo } from '../../lookup.ts'
import { type CommandContext, sessionOf } from '../connections/context.ts'
import type { RequestChoice } from './asked-url.ts'
import { explainService, type ServiceChoice } from './explain-service.ts'
import { explainText } from './explain-text.ts'
import { explainVipText, type VipExplanation } from './explain-vip-text.ts'
import type { Explanation } from './explanation.ts'
import { type VipChoice, vipPath } from './vip.ts'

/** Adds `spout explain lb NAME`, `… request URL`, `… service NAME` and `… vip ADDRESS`. */
export function addExplain(program: Command, context: CommandContext): void {
  const command = program.command('explain').description('explains the state of an object')
  command
    .command('vip')
    .description('which node announces an address, who decides that, and the part of every node')
    .argument('<address>')
    .option('--lb <name>', 'the load balancer with the address, if several projects use it')
    .option('--project <project>', 'the project with the address, if several use it')
    .option('--json', 'as data')
    .action(async (address: string, options: VipChoice & { readonly json?: boolean }) => {
      const session = sessionOf(context)
      const path = await vipPath(session, address, '/explain', options)
      const explanation = await call<VipExplanation>(session, 'GET', path)
      context.write(
        options.json ? `${JSON.stringify(explanation, null, 2)}\n` : explainVipText(explanation, context.colour),
      )
    })
  command
    .command('request')
    .description('which route, pool and member would get a request, and why no other; nothing is sent')
    .argument('<url>')
    .option('--address <ip>', "the load balancer's address; left out, that of the URL's host")
    .option('--method <method>', 'of the request', 'GET')
    .option(
      '--header <line>',
      'a header, such as "x-beta: 1"; repeat for more',
      (one, all: string[]) => [...all, one],
      [],
    )
    .option('--client <ip>', "the client's address, for lists and routes that ask for it")
    .option('--lb <name>', 'the load balancer with the address, if several projects use it')
    .option('--project <project>', 'the project with the address, if several use it')
    .action(async (url: string, options: RequestChoice & VipChoice) => {
      // Loaded only here: other commands start faster without the planner.
      const { explainRequest } = await import('./explain-request.ts')
      return explainRequest(url, options, context)
    })
  command
    .command('service')
    .description("the state of a Kubernetes Service: what the connector wrote on it, then its load balancer's path")
    .argument('<name>', 'NAMESPACE/NAME')
    .option('--kubeconfig <file>', 'the cluster; left out, KUBECONFIG')
    .option('--context <name>', 'context of the kubeconfig; default: its current one')
    .option('--project <project>', 'the project of its load balancer, if several use the name')
    .option('--json', 'as data')
    .action((name: string, options: ServiceChoice) => explainService(name, options, context))
  command
    .command('lb')
    .description('the path of a load balancer hop by hop, with reasons')
    .argument('<name>')
    .option('--project <project>', 'the project of the name, if several use it')
    .option('--json', 'as data')
    .action(async (name: string, options: { readonly json?: boolean; readonly project?: string }) => {
      const session = await scopedTo(sessionOf(context), options.project)
      const { id } = await findByName(session, '/load-balancers', 'load balancer', name).catch((error: unknown) => {
        throw isOfService(name) && error instanceof SpoutError && error.code === 'NotFound'
          ? lookAtService(error, name)
          : error
      })
      const explanation = await call<Explanation>(session, 'GET', `/load-balancers/${String(id)}/explain`)
      context.write(
        options.json ? `${JSON.stringify(explanation, null, 2)}\n` : explainText(explanation, context.colour),
      )
    })
}

/** The connector names load balancers after Services. */
const isOfService = (name: string): boolean => /^[a-z0-9-]+\/[a-z0-9-]+$/.test(name)

/** A refused Service has no load balancer; only the Service itself says why. */
const lookAtService = ({ message, code }: SpoutError, name: string): ApiProblem =>
  new ApiProblem(404, `${message}; if it is a Kubernetes Service, see spout explain service ${name}`, code)
