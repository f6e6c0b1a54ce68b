import { CUSTOM_RESOURCE_DEFINITIONS, INGRESS_CLASSES } from '@spout/kube'
import {
  AUTHORITY_RULES,
  CONFIG_RULES,
  CONNECTOR_INGRESS_RULES,
  CONNECTOR_LEASE_RULES,
  CONNECTOR_LOAD_BALANCER_RULES,
  CONNECTOR_RULES,
  CONTROL_PLANE_RULES,
  type PolicyRule,
} from '@spout/kubernetes-manifests/rules'
import { readInstallation } from '../installation.ts'
import type { ClusterPlace, Right } from '../place.ts'

/** Accounts by program; the configuration's has an older name. */
const ACCOUNTS = { 'control-plane': 'control-plane', configuration: 'config', connector: 'connector' } as const

export interface MissingRights {
  /** `namespace/name` of the service account. */
  readonly account: string
  readonly missing: readonly Right[]
}

/** Asks the API server what our accounts may; empty without an installation. */
export async function readRights(place: ClusterPlace): Promise<readonly MissingRights[]> {
  const installation = await readInstallation(place)
  if (installation === null) return []
  const { namespace, workloads } = installation
  const classes = await place.list(INGRESS_CLASSES, { fieldSelector: 'metadata.name=spout' })
  const kinds = await place.list(CUSTOM_RESOURCE_DEFINITIONS)
  const rules: Readonly<Record<keyof typeof ACCOUNTS, readonly Right[]>> = {
    'control-plane': [...rightsOf(CONTROL_PLANE_RULES), ...rightsOf(AUTHORITY_RULES, namespace)],
    configuration: rightsOf(CONFIG_RULES),
    connector: [
      ...rightsOf(CONNECTOR_RULES),
      ...rightsOf(CONNECTOR_LEASE_RULES, namespace),
      ...(classes.length > 0 ? rightsOf(CONNECTOR_INGRESS_RULES) : []),
      ...(kinds.some(({ metadata }) => metadata.name === 'loadbalancers.spout.dev')
        ? rightsOf(CONNECTOR_LOAD_BALANCER_RULES)
        : []),
    ],
  }
  const asked = (Object.keys(ACCOUNTS) as (keyof typeof ACCOUNTS)[]).filter((program) => workloads.has(program))
  return Promise.all(
    asked.map(async (program) => {
      const account = `${namespace}/${ACCOUNTS[program]}`
      const answers = await Promise.all(
        rules[program].map(async (right) => ((await place.may(account, right)) ? [] : [right])),
      )
      return { account, missing: answers.flat() }
    }),
  )
}

const rightsOf = (rules: readonly PolicyRule[], namespace?: string): readonly Right[] =>
  rules.flatMap(({ apiGroups, resources, resourceNames = [undefined], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          resourceNames.map((name) => ({
            ...{ group, resource, verb },
            ...(namespace !== undefined && { namespace }),
            ...(name !== undefined && { name }),
          })),
        ),
      ),
    ),
  )
