import type { TestBed } from './test-bed.ts'

/** What load balancers of a project need: a public address pool, and a network whose members are in 10.9.0.0/24. */
export interface ProjectToBalance {
  /** A token of the administrator. */
  readonly admin: string
  readonly projectId: string
  readonly poolId: string
}

export async function projectToBalance(bed: TestBed): Promise<ProjectToBalance> {
  const admin = await bed.adminLogin()
  const { id: projectId } = await bed.admission.createProject({ name: 'one', description: '' })
  const ranges = [{ first: '198.51.100.1', last: '198.51.100.250' }]
  const create = async (path: string, payload: object): Promise<string> =>
    (await bed.askNative('POST', path, admin, payload)).body.id
  const poolId = await create('/address-pools', { name: 'public', ranges, cidr: '198.51.100.0/24' })
  const networkId = await create('/networks', { name: 'inside', projectId })
  await create(`/networks/${networkId}/subnets`, { cidr: '10.9.0.0/24' })
  return { admin, projectId, poolId }
}
