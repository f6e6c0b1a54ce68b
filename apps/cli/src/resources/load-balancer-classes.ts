import {
  column,
  type Field,
  orNone,
  projectList,
  projectsColumn,
  type Resource,
  type Row,
  wholeNumber,
  yesOrNo,
} from './resource.ts'

/** `1000/800 ms, rise 2, fall 3`. */
const monitor = (row: Row): unknown => {
  if (row.monitor === null) return null
  const { intervalMs, timeoutMs, rise, fall } = row.monitor as Readonly<Record<string, number | null>>
  return `${intervalMs}${timeoutMs === null ? '' : `/${timeoutMs}`} ms, rise ${rise}, fall ${fall}`
}

/** `yes, 128 MB, 0.5 processors`. */
const dedicatedProxy = ({ dedicatedProxy: limits }: Row): string => {
  if (!limits) return 'no'
  const { memoryMegabytes, processors, connections } = limits as Readonly<Record<string, number | undefined>>
  return [
    'yes',
    ...(memoryMegabytes === undefined ? [] : [`${memoryMegabytes} MB`]),
    ...(processors === undefined ? [] : [`${processors} processors`]),
    ...(connections === undefined ? [] : [`${connections} connections`]),
  ].join(', ')
}

/** `headers 8192, body 1048576`. */
const requestSizes = ({ requestSizes: sizes }: Row): string | null => {
  if (!sizes) return null
  const { headerBytes, bodyBytes } = sizes as Readonly<Record<string, number | null>>
  return [
    ...(headerBytes == null ? [] : [`headers ${headerBytes}`]),
    ...(bodyBytes == null ? [] : [`body ${bodyBytes}`]),
  ].join(', ')
}

const monitorField = (flag: string, field: string, description: string): Field => ({
  flags: `--monitor-${flag}`,
  description,
  field: `monitor.${field}`,
  parse: wholeNumber,
})

export const loadBalancerClass: Resource = {
  noun: 'class',
  title: 'load balancer class',
  summary: 'kinds of load balancers that tenants choose from',
  path: '/load-balancer-classes',
  within: [],
  columns: [
    column('NAME', 'name'),
    column('ENABLED', 'enabled'),
    column('CONNECTIONS', 'connectionLimit'),
    { title: 'MONITOR', value: monitor },
    { title: 'OWN PROXY', value: dedicatedProxy },
    { title: 'REQUEST BYTES', value: requestSizes },
    column('DESCRIPTION', 'description'),
    column('NODE GROUP', 'nodeGroupName'),
    projectsColumn,
    column('ID', 'id', true),
  ],
  fields: [
    { flags: '--name <name>', description: 'a new name', field: 'name', only: 'set' },
    { flags: '--description <text>', description: 'free text', field: 'description' },
    {
      flags: '--enabled <yes|no>',
      description: 'no: for no new load balancers',
      field: 'enabled',
      parse: yesOrNo,
    },
    {
      flags: '--node-group <group>',
      description: "group of nodes that carries them, or 'none'",
      field: 'nodeGroupId',
      parse: orNone(),
    },
    {
      flags: '--connection-limit <count>',
      description: "connections at once of each listener at most, or 'none'",
      field: 'connectionLimit',
      parse: orNone(wholeNumber),
    },
    monitorField('interval-ms <ms>', 'intervalMs', 'interval of monitors that are made without one (default 1000)'),
    monitorField('timeout-ms <ms>', 'timeoutMs', 'time-out likewise (default 800, or the interval)'),
    monitorField('rise <count>', 'rise', 'successes likewise (default 2)'),
    monitorField('fall <count>', 'fall', 'failures likewise (default 3)'),
    {
      flags: '--dedicated-proxy <yes|no>',
      description: 'yes: a proxy process for each load balancer (default: they share one)',
      field: 'dedicatedProxy',
      parse: (text) => (yesOrNo(text) ? {} : null),
    },
    {
      flags: '--proxy-memory-mb <count>',
      description: 'memory of each of these (default: as of shared ones)',
      field: 'dedicatedProxy.memoryMegabytes',
      parse: wholeNumber,
    },
    {
      flags: '--proxy-processors <number>',
      description: 'processor time of each, such as 0.5 (default likewise)',
      field: 'dedicatedProxy.processors',
      parse: Number,
    },
    {
      flags: '--proxy-connections <count>',
      description: 'connections at once of each (default likewise)',
      field: 'dedicatedProxy.connections',
      parse: wholeNumber,
    },
    {
      flags: '--request-header-bytes <count>',
      description: "largest target and headers of a request, or 'none' (as many as the proxy takes)",
      field: 'requestSizes.headerBytes',
      parse: orNone(wholeNumber),
    },
    {
      flags: '--request-body-bytes <count>',
      description: "largest body of a request, or 'none'",
      field: 'requestSizes.bodyBytes',
      parse: orNone(wholeNumber),
    },
    {
      flags: '--projects <projects>',
      description: "projects that may choose it, comma-separated; 'all' (default) or 'none'",
      field: 'projectIds',
      parse: projectList,
    },
  ],
  references: {
    nodeGroupId: { path: '/node-groups', title: 'node group' },
    projectIds: { path: '/projects', title: 'project' },
  },
  verbs: ['list', 'show', 'create', 'set', 'delete'],
}
