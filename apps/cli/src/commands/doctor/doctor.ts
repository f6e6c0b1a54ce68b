import { ApiProblem } from '@spout/client/api'
import { FINDING_FORMATS, type FindingFormat, needOf, writtenFindings } from '@spout/runtime/findings'
import { type Command, Option } from 'commander'
import { type CommandContext, sessionOf, UsageError } from '../connections/context.ts'
import { readFacts } from './facts.ts'

interface Options {
  readonly all?: boolean
  readonly output: FindingFormat
  readonly kubeconfig?: string
  readonly context?: string
}

/** Adds `spout doctor`. The exit status is 1 when somebody has to act: an error or a warning. */
export function addDoctor(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .description('looks for what is wrong with the installation, or will be, and says what to do (administrators)')
    .option('--all', 'also say what is right')
    .option('--kubeconfig <file>', 'looks at this Kubernetes cluster, without asking the control plane')
    .option('--context <name>', 'context of the kubeconfig; default: its current one')
    .addOption(new Option('-o, --output <format>', 'output format').choices(FINDING_FORMATS).default('text'))
    .action(async ({ all = false, output, kubeconfig, context: name }: Options) => {
      if (name !== undefined && kubeconfig === undefined) throw new UsageError('--context needs --kubeconfig')
      const findings = await (kubeconfig === undefined ? ofInstallation() : ofCluster(kubeconfig, name))
      context.write(writtenFindings(findings, { format: output, all, colour: context.colour }))
      const need = needOf(findings)
      if (need !== null) throw new ApiProblem(422, need, null)
    })

  // Loaded only when they are called: other commands start faster without the checks.
  const ofInstallation = async () => {
    const { findingsOf } = await import('./installation.ts')
    return findingsOf(await readFacts(sessionOf(context)))
  }
  const ofCluster = async (kubeconfig: string, name: string | undefined) => {
    const { clusterFindings } = await import('./cluster/cluster-findings.ts')
    return clusterFindings({ kubeconfig, ...(name !== undefined && { context: name }) })
  }
}
