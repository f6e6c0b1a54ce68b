import type { KubernetesObject } from '../in-cluster/pod.ts'
import { GIVEN, TENANT_LABEL } from './names.ts'

/**
 * The rules for what tenants may write into their namespaces of the provider's cluster. The API server enforces them
 * (ValidatingAdmissionPolicy, CEL) for every writer, because Kubernetes' own controllers copy what tenants wrote.
 */

interface Validation {
  readonly expression: string
  readonly message: string
}

interface TenantPolicy {
  readonly name: string
  readonly apiGroup: string
  readonly apiVersion: string
  readonly resources: readonly string[]
  readonly validations: readonly Validation[]
}

const ANNOTATIONS = 'namespaceObject.metadata.annotations'

/** A CEL variable: the list in one of the namespace's annotations. */
const given = (name: keyof typeof GIVEN) => ({
  name,
  expression: `has(${ANNOTATIONS}) && '${GIVEN[name]}' in ${ANNOTATIONS} ? ${ANNOTATIONS}['${GIVEN[name]}'].split(',').map(one, one.trim()).filter(one, one != '') : []`,
})

const VARIABLES = (Object.keys(GIVEN) as (keyof typeof GIVEN)[]).map(given)

/** CEL: whether a domain of the namespace covers a host, which may be a wildcard. */
const covers = (host: string): string =>
  `variables.domains.exists(domain, domain == ${host}.lowerAscii() || (domain.startsWith('*.') && ${host}.lowerAscii().endsWith(domain.substring(1))))`

const mayListen = (port: string): string =>
  `variables.ports.exists(range, int(range.split('-')[0]) <= ${port} && ${port} <= int(range.split('-')[size(range.split('-')) - 1]))`

const isInNetworks = (address: string): string =>
  `isIP(${address}) && variables.networks.exists(network, cidr(network).containsIP(${address}))`

const isGivenClass = (field: string): string => `has(${field}) && ${field} in variables.classes`

/** CEL: a condition on a field that may be absent. */
const unset = (field: string, condition: string): string => `!has(${field}) || ${condition}`
/** CEL: a condition on every item of a list that may be absent. */
const every = (field: string, item: string, condition: string): string =>
  unset(field, `${field}.all(${item}, ${condition})`)

const NO_DOMAIN = `no domain in ${GIVEN.domains} of the namespace covers it`
const NO_CLASS = `is none of the classes in ${GIVEN.classes} of the namespace`
const NO_PORT = `is none of the ports in ${GIVEN.ports} of the namespace`
const NO_NETWORK = `is in none of the networks in ${GIVEN.networks} of the namespace`

/** Annotations whose values are lists of host names with commas. */
const HOST_ANNOTATIONS = [
  'external-dns.kubernetes.io/hostname',
  'external-dns.alpha.kubernetes.io/hostname',
  'nginx.ingress.kubernetes.io/server-alias',
]

/** Rules for annotations, of every kind of which the connector reads annotations. */
const ANNOTATION_RULES: readonly Validation[] = [
  ...HOST_ANNOTATIONS.map((name) => ({
    expression: `!has(object.metadata.annotations) || !('${name}' in object.metadata.annotations) || object.metadata.annotations['${name}'].split(',').all(host, ${covers('host.trim()')})`,
    message: `metadata.annotations[${name}]: ${NO_DOMAIN}`,
  })),
  {
    expression:
      "!has(object.metadata.annotations) || !object.metadata.annotations.exists(name, name.contains('snippet'))",
    message: 'metadata.annotations: snippets of configuration are not allowed',
  },
]

const ownNamespace = (ref: string): string => `(!has(${ref}.namespace) || ${ref}.namespace == request.namespace)`

/** Rules for the listeners of Gateways and ListenerSets. */
const LISTENER_RULES: readonly Validation[] = [
  {
    expression: every('object.spec.listeners', 'listener', mayListen('listener.port')),
    message: `spec.listeners[].port: ${NO_PORT}`,
  },
  {
    expression: every(
      'object.spec.listeners',
      'listener',
      `listener.protocol in ['TCP', 'UDP'] || (has(listener.hostname) && ${covers('listener.hostname')})`,
    ),
    message: `spec.listeners[].hostname: ${NO_DOMAIN}`,
  },
]

const POLICIES: readonly TenantPolicy[] = [
  {
    name: 'ingresses',
    ...{ apiGroup: 'networking.k8s.io', apiVersion: 'v1', resources: ['ingresses'] },
    validations: [
      { expression: isGivenClass('object.spec.ingressClassName'), message: `spec.ingressClassName: ${NO_CLASS}` },
      {
        expression: every('object.spec.rules', 'rule', `has(rule.host) && ${covers('rule.host')}`),
        message: `spec.rules[].host: ${NO_DOMAIN}`,
      },
      {
        expression: every('object.spec.tls', 'tls', `(${every('tls.hosts', 'host', covers('host'))})`),
        message: `spec.tls[].hosts: ${NO_DOMAIN}`,
      },
      {
        expression: '!has(object.spec.defaultBackend)',
        message: 'spec.defaultBackend: would serve all hosts; name them in spec.rules',
      },
      ...ANNOTATION_RULES,
    ],
  },
  {
    name: 'gateways',
    ...{ apiGroup: 'gateway.networking.k8s.io', apiVersion: 'v1', resources: ['gateways'] },
    validations: [
      { expression: isGivenClass('object.spec.gatewayClassName'), message: `spec.gatewayClassName: ${NO_CLASS}` },
      ...LISTENER_RULES,
      ...ANNOTATION_RULES,
    ],
  },
  {
    name: 'listener-sets',
    ...{ apiGroup: 'gateway.networking.k8s.io', apiVersion: '*', resources: ['listenersets'] },
    validations: [
      {
        expression: ownNamespace('object.spec.parentRef'),
        message: 'spec.parentRef.namespace: is another namespace',
      },
      ...LISTENER_RULES,
      ...ANNOTATION_RULES,
    ],
  },
  {
    name: 'routes',
    ...{ apiGroup: 'gateway.networking.k8s.io', apiVersion: '*' },
    resources: ['httproutes', 'grpcroutes', 'tlsroutes', 'tcproutes', 'udproutes'],
    validations: [
      {
        expression: every('object.spec.hostnames', 'host', covers('host')),
        message: `spec.hostnames: ${NO_DOMAIN}`,
      },
      {
        expression: every('object.spec.parentRefs', 'ref', ownNamespace('ref')),
        message: 'spec.parentRefs[].namespace: is another namespace',
      },
      {
        expression: every('object.spec.rules', 'rule', `(${every('rule.backendRefs', 'ref', ownNamespace('ref'))})`),
        message: 'spec.rules[].backendRefs[].namespace: is another namespace',
      },
    ],
  },
  {
    name: 'services',
    ...{ apiGroup: '', apiVersion: 'v1', resources: ['services'] },
    validations: [
      {
        expression: `object.spec.type != 'LoadBalancer' || (${isGivenClass('object.spec.loadBalancerClass')})`,
        message: `spec.loadBalancerClass: ${NO_CLASS}`,
      },
      {
        expression: `object.spec.type != 'LoadBalancer' || (${every('object.spec.ports', 'port', mayListen('port.port'))})`,
        message: `spec.ports[].port: ${NO_PORT}`,
      },
      {
        expression: "object.spec.type != 'ExternalName'",
        message: 'spec.type: ExternalName is not allowed, because its name can resolve to any address',
      },
      {
        expression: '!has(object.spec.externalIPs) || size(object.spec.externalIPs) == 0',
        message: 'spec.externalIPs: are not allowed; addresses come from pools',
      },
      ...ANNOTATION_RULES,
    ],
  },
  {
    name: 'endpoint-slices',
    ...{ apiGroup: 'discovery.k8s.io', apiVersion: 'v1', resources: ['endpointslices'] },
    validations: [
      {
        expression: every(
          'object.endpoints',
          'endpoint',
          `endpoint.addresses.all(address, ${isInNetworks('address')})`,
        ),
        message: `endpoints[].addresses: ${NO_NETWORK}`,
      },
    ],
  },
  {
    name: 'load-balancers',
    ...{ apiGroup: 'spout.dev', apiVersion: 'v1', resources: ['loadbalancers'] },
    validations: [
      {
        expression: unset('object.spec.class', 'object.spec.class in variables.classes'),
        message: `spec.class: ${NO_CLASS}`,
      },
      {
        expression: every('object.spec.dnsNames', 'name', covers('name')),
        message: `spec.dnsNames: ${NO_DOMAIN}`,
      },
      {
        expression: every('object.spec.listeners', 'listener', mayListen('listener.port')),
        message: `spec.listeners[].port: ${NO_PORT}`,
      },
      {
        expression: every(
          'object.spec.listeners',
          'listener',
          `(${every(
            'listener.routes',
            'route',
            `(${every(
              'route.conditions',
              'one',
              `one.type != 'host' || (has(one.not) && one.not) || (one.compare == 'exact' && one.values.all(host, ${covers('host')})) || (one.compare in ['one-label', 'any-labels'] && one.values.all(host, ${covers("('*.' + host)")}))`,
            )})`,
          )})`,
        ),
        message: `spec.listeners[].routes[].conditions[].values: ${NO_DOMAIN}, or it is not a whole name`,
      },
      {
        expression: every(
          'object.spec.pools',
          'pool',
          `(${every('pool.members', 'member', isInNetworks('member.address'))})`,
        ),
        message: `spec.pools[].members[].address: ${NO_NETWORK}`,
      },
    ],
  },
]

const objectsOf = ({ name, apiGroup, apiVersion, resources, validations }: TenantPolicy): KubernetesObject[] => {
  const apiVersionOfPolicy = 'admissionregistration.k8s.io/v1'
  const metadata = { name: `spout-tenant-${name}` }
  const operations = ['CREATE', 'UPDATE']
  const rule = { apiGroups: [apiGroup], apiVersions: [apiVersion], operations, resources, scope: '*' }
  return [
    {
      apiVersion: apiVersionOfPolicy,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: [rule] },
        // Not for objects that are being deleted, so that their finalizers can always be removed.
        matchConditions: [{ name: 'stays', expression: '!has(object.metadata.deletionTimestamp)' }],
        variables: VARIABLES,
        validations: validations.map((one) => ({ ...one, reason: 'Forbidden' })),
      },
    },
    {
      apiVersion: apiVersionOfPolicy,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: {
        policyName: metadata.name,
        validationActions: ['Deny'],
        matchResources: { namespaceSelector: { matchExpressions: [{ key: TENANT_LABEL, operator: 'Exists' }] } },
      },
    },
  ]
}

/** The policies. They apply to namespaces with the label of tenants; others are not restricted. */
export const TENANT_POLICIES: readonly KubernetesObject[] = POLICIES.flatMap(objectsOf)
