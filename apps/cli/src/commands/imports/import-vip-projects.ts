import type { Command } from 'commander'
import { type CommandContext, UsageError } from '../connections/context.ts'
import { manifestsOf } from './manifest-files.ts'

/** Projects that keep virtual addresses on a cluster's nodes, beside MetalLB. */
const PROJECTS = [
  {
    name: 'keepalived-operator',
    reads: "KeepalivedGroups, OpenShift's Network `cluster`, and Services",
    convert: 'convertKeepalivedOperator',
  },
  {
    name: 'kube-vip',
    reads: 'its DaemonSet or static pod, the ConfigMap of its cloud provider, and Services',
    convert: 'convertKubeVip',
  },
] as const

/**
 * Adds `spout import keepalived-operator|kube-vip`. They print objects for `kubectl apply -f -`, and say what is lost. They
 * write nothing, and talk to neither a cluster nor the control plane.
 */
export function addImportVipProjects(program: Command, context: CommandContext): void {
  const command = program.commands.find((one) => one.name() === 'import')
  if (command === undefined) throw new Error('addImportVipProjects needs the import command')
  for (const { name, reads, convert } of PROJECTS)
    command
      .command(name)
      .description(`prints the objects for a configuration of ${name} (${reads}) as YAML; what is lost is in comments`)
      .requiredOption('-f, --file <path...>', 'manifests: YAML files, directories of them, or - for standard input')
      .action(async ({ file }: { readonly file: readonly string[] }) => {
        // Loaded only here: other commands start faster without it.
        const imports = await import('@spout/metallb-import')
        try {
          const manifests = await manifestsOf(file, imports.readManifests)
          context.write(imports.conversionYaml(imports[convert](manifests), name))
        } catch (error) {
          if (error instanceof imports.BadManifests) throw new UsageError(error.message)
          throw error
        }
      })
}
