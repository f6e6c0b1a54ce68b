import { DEFAULT_QUOTA, limitsOf, type QuotaResource } from '@spout/model'
import { parseCidr } from '@spout/net'
import { Mutex, OneARound } from '@spout/runtime'
import type { SealingKeys } from '@spout/runtime/sealing-keys'
import type { Store } from '@spout/store'
import {
  changeCertificate,
  createCertificate,
  deleteCertificate,
  openCertificate,
} from './certificates/certificates.ts'
import { sealAnew } from './certificates/seal-anew.ts'
import {
  changeSecretContainer,
  createSecretContainer,
  deleteSecretContainer,
} from './certificates/secret-containers.ts'
import { createSecret, deleteSecret, openSecret, setPayload } from './certificates/secrets.ts'
import { BusyWriters } from './claims/busy-writers.ts'
import { Claims } from './claims/claims.ts'
import { type AdmissionContext, type RandomSource, systemRandom } from './claims/context.ts'
import { DenyList } from './claims/deny-list.ts'
import type { HostRule } from './claims/host-rule.ts'
import type { Admission } from './contract/admission.ts'
import type { LocalAdmission } from './contract/local-admission.ts'
import type { NodeAddressAdmission } from './contract/node-address-admission.ts'
import type { Placing } from './contract/placing.ts'
import type { PlannedMoveAdmission } from './contract/planned-move-admission.ts'
import type { ModelView } from './contract/view.ts'
import { claimDomain, concludeDomainCheck, withdrawDomainClaim } from './domains/domain-claims.ts'
import { AdmissionIndex } from './indexes/admission-index.ts'
import { abandonLoadBalancer, adoptLoadBalancer } from './load-balancers/adopted.ts'
import { dryRun } from './load-balancers/dry-run.ts'
import { LoadBalancers } from './load-balancers/load-balancers.ts'
import { bindFloating, changeAddressText, releaseAddress, reserveAddress } from './load-balancers/ports.ts'
import { changeAddressPool, createAddressPool, deleteAddressPool } from './networks/address-pools.ts'
import { setNetworkRoutes } from './networks/network-routes.ts'
import { addSubnet, createNetwork, deleteNetwork, removeSubnet } from './networks/networks.ts'
import { changeSecurityGroup, createSecurityGroup, deleteSecurityGroup } from './networks/security-groups.ts'
import { changeBgpAdvertisement, createBgpAdvertisement, deleteBgpAdvertisement } from './nodes/bgp-advertisements.ts'
import { changeBgpPeer, createBgpPeer, deleteBgpPeer } from './nodes/bgp-peers.ts'
import { ensureNodeAddresses, ensureSharedAddresses } from './nodes/node-addresses.ts'
import { changeNodeGroup, createNodeGroup, deleteNodeGroup, rebalanceNodeGroup } from './nodes/node-groups.ts'
import {
  changeNode,
  createEnrolmentToken,
  deleteNode,
  enrolNamedNode,
  enrolNode,
  seeFabricAddress,
} from './nodes/nodes.ts'
import { changeOctaviaProfile, createOctaviaProfile, deleteOctaviaProfile } from './nodes/octavia-profiles.ts'
import { beginDrain, beginMove } from './nodes/planned-moves.ts'
import { classQuotasOf } from './offers/class-quota.ts'
import {
  changeAvailabilityZone,
  changeLoadBalancerClass,
  createAvailabilityZone,
  createLoadBalancerClass,
  deleteOffer,
} from './offers/offers.ts'
import { changeCustomRole, createCustomRole, deleteCustomRole } from './projects/custom-roles.ts'
import { changeProject, createProject, deleteProject, setQuota } from './projects/projects.ts'
import { deleteApplicationCredential, deleteUser, putApplicationCredential, putUser } from './projects/users.ts'

export interface StoreAdmissionOptions {
  readonly store: Store
  /** A caught-up view of the same store. */
  readonly view: ModelView
  /** Limits of projects without a quota of their own. */
  readonly defaultQuota?: Readonly<Record<QuotaResource, number>>
  /** The provider's networks, whose addresses no tenant may name. */
  readonly managementCidrs?: readonly string[]
  /** The nodes' networks: a node may see an address of these alone as its own. Empty, the default: any. */
  readonly fabricCidrs?: readonly string[]
  /** Milliseconds since 1970. */
  readonly now?: () => number
  readonly random?: RandomSource
  /** Seals private keys. Without it certificates cannot be written. */
  readonly sealing?: SealingKeys
  /** `any`: load balancers may name networks and certificates that do not exist, and no node carries them. */
  readonly references?: 'known' | 'any'
  /** The hosts that routes may name; left out: all but those below another project's domain. */
  readonly hosts?: HostRule
}

/** Answers to writes that are given in one round of the event loop: a millisecond of work. Then others have a turn. */
const MOST_ANSWERS_OF_ROUND = 4

/**
 * Admission over a store (see the contract). It must be the only writer of intent at a time, which the default store's
 * lock ensures: quota and network numbers are checked against the view and this process's writes under way. Addresses
 * and documents are guarded by revisions as well.
 */
export class StoreAdmission implements Admission, LocalAdmission, NodeAddressAdmission, PlannedMoveAdmission {
  readonly #context: AdmissionContext
  #placing: Placing | null = null
  readonly #loadBalancers: LoadBalancers
  /** Two runs at once would each give a node an address. */
  readonly #ensuring = new Mutex()
  /** Serializes changes that assign or remove domains: each is checked against those of all projects. */
  readonly #domains = new Mutex()

  constructor(options: StoreAdmissionOptions) {
    const { store, view, defaultQuota, managementCidrs, fabricCidrs, now, random, sealing, references, hosts } = options
    const index = new AdmissionIndex(view)
    this.#context = {
      store,
      view,
      index,
      claims: new Claims(index, (projectId) => this.quotaOf(projectId).limits),
      deny: new DenyList(index, managementCidrs ?? []),
      fabric: (fabricCidrs ?? []).map((cidr) => parseCidr(cidr)),
      random: random ?? systemRandom,
      placing: () => this.#placing,
      sealing: sealing ?? null,
      references: references ?? 'known',
      hosts: hosts ?? 'unclaimed',
      answers: new OneARound({ mostOfRound: MOST_ANSWERS_OF_ROUND }),
      writers: new BusyWriters(),
      now: now ?? Date.now,
      defaultQuota: defaultQuota ?? DEFAULT_QUOTA,
    }
    this.#loadBalancers = new LoadBalancers(this.#context)
  }

  /** From now on new load balancers are stored in one commit with their placement. Null: they are placed later. */
  placeBy(placing: Placing | null): void {
    this.#placing = placing
  }

  /** Unsubscribes from the view. */
  close(): void {
    this.#context.index.close()
  }

  createLoadBalancer: Admission['createLoadBalancer'] = (draft, turn) => this.#loadBalancers.create(draft, turn)
  changeLoadBalancer: Admission['changeLoadBalancer'] = (id, change) => this.#loadBalancers.change(id, change)
  changeLongLoadBalancer: Admission['changeLongLoadBalancer'] = (id, change, turn) =>
    this.#loadBalancers.changeLong(id, change, turn)
  changeMembers: Admission['changeMembers'] = (...change) => this.#loadBalancers.changeMembers(...change)
  deleteLoadBalancer: Admission['deleteLoadBalancer'] = (id, options) => this.#loadBalancers.delete(id, options)
  addVip: Admission['addVip'] = (id, request) => this.#loadBalancers.addVip(id, request)
  removeVip: Admission['removeVip'] = (id, address) => this.#loadBalancers.removeVip(id, address)
  dryRun: Admission['dryRun'] = (id, write) => dryRun(this.#context, id, write)

  adoptLoadBalancer: LocalAdmission['adoptLoadBalancer'] = (adoption) => adoptLoadBalancer(this.#context, adoption)
  abandonLoadBalancer: LocalAdmission['abandonLoadBalancer'] = (id) => abandonLoadBalancer(this.#context, id)

  createNetwork: Admission['createNetwork'] = (draft) => createNetwork(this.#context, draft)
  addSubnet: Admission['addSubnet'] = (networkId, draft) => addSubnet(this.#context, networkId, draft)
  removeSubnet: Admission['removeSubnet'] = (networkId, subnetId) => removeSubnet(this.#context, networkId, subnetId)
  setNetworkRoutes: Admission['setNetworkRoutes'] = (networkId, routes) =>
    setNetworkRoutes(this.#context, networkId, routes)
  deleteNetwork: Admission['deleteNetwork'] = (id) => deleteNetwork(this.#context, id)

  createAddressPool: Admission['createAddressPool'] = (draft) => createAddressPool(this.#context, draft)
  changeAddressPool: Admission['changeAddressPool'] = (id, change) => changeAddressPool(this.#context, id, change)
  deleteAddressPool: Admission['deleteAddressPool'] = (id) => deleteAddressPool(this.#context, id)

  reserveAddress: Admission['reserveAddress'] = (projectId, request, use, text) =>
    reserveAddress(this.#context, projectId, request, use, text)
  changeAddressText: Admission['changeAddressText'] = (portId, change) =>
    changeAddressText(this.#context, portId, change)
  bindFloating: Admission['bindFloating'] = (portId, targetPortId) =>
    bindFloating(this.#context, this.#loadBalancers, portId, targetPortId)
  releaseAddress: Admission['releaseAddress'] = (portId) => releaseAddress(this.#context, this.#loadBalancers, portId)

  createProject: Admission['createProject'] = (draft) => createProject(this.#context, draft)
  changeProject: Admission['changeProject'] = (...change) =>
    this.#domains.run(() => changeProject(this.#context, ...change))
  deleteProject: Admission['deleteProject'] = (id) => deleteProject(this.#context, id)
  setQuota: Admission['setQuota'] = (...quota) => setQuota(this.#context, ...quota)
  createCustomRole: Admission['createCustomRole'] = (draft) => createCustomRole(this.#context, draft)
  changeCustomRole: Admission['changeCustomRole'] = (...change) => changeCustomRole(this.#context, ...change)
  deleteCustomRole: Admission['deleteCustomRole'] = (id) => deleteCustomRole(this.#context, id)
  putUser: Admission['putUser'] = (user) => putUser(this.#context, user)
  deleteUser: Admission['deleteUser'] = (id) => deleteUser(this.#context, id)
  putApplicationCredential: Admission['putApplicationCredential'] = (credential) =>
    putApplicationCredential(this.#context, credential)
  deleteApplicationCredential: Admission['deleteApplicationCredential'] = (id) =>
    deleteApplicationCredential(this.#context, id)

  claimDomain: Admission['claimDomain'] = (draft) => claimDomain(this.#context, draft)
  withdrawDomainClaim: Admission['withdrawDomainClaim'] = (id) =>
    this.#domains.run(() => withdrawDomainClaim(this.#context, id))
  concludeDomainCheck: Admission['concludeDomainCheck'] = (...check) =>
    this.#domains.run(() => concludeDomainCheck(this.#context, ...check))

  createNodeGroup: Admission['createNodeGroup'] = (draft) => createNodeGroup(this.#context, draft)
  changeNodeGroup: Admission['changeNodeGroup'] = (id, change) => changeNodeGroup(this.#context, id, change)
  rebalanceNodeGroup: Admission['rebalanceNodeGroup'] = (id, moves) => rebalanceNodeGroup(this.#context, id, moves)
  deleteNodeGroup: Admission['deleteNodeGroup'] = (id) => deleteNodeGroup(this.#context, id)

  createLoadBalancerClass: Admission['createLoadBalancerClass'] = (draft) =>
    createLoadBalancerClass(this.#context, draft)
  changeLoadBalancerClass: Admission['changeLoadBalancerClass'] = (id, change) =>
    changeLoadBalancerClass(this.#context, id, change)
  deleteLoadBalancerClass: Admission['deleteLoadBalancerClass'] = (id) =>
    deleteOffer(this.#context, 'loadBalancerClass', id)
  createAvailabilityZone: Admission['createAvailabilityZone'] = (draft) => createAvailabilityZone(this.#context, draft)
  changeAvailabilityZone: Admission['changeAvailabilityZone'] = (id, change) =>
    changeAvailabilityZone(this.#context, id, change)
  deleteAvailabilityZone: Admission['deleteAvailabilityZone'] = (id) =>
    deleteOffer(this.#context, 'availabilityZone', id)
  createOctaviaProfile: Admission['createOctaviaProfile'] = (draft) => createOctaviaProfile(this.#context, draft)
  changeOctaviaProfile: Admission['changeOctaviaProfile'] = (id, change) =>
    changeOctaviaProfile(this.#context, id, change)
  deleteOctaviaProfile: Admission['deleteOctaviaProfile'] = (id) => deleteOctaviaProfile(this.#context, id)

  createBgpPeer: Admission['createBgpPeer'] = (draft) => createBgpPeer(this.#context, draft)
  changeBgpPeer: Admission['changeBgpPeer'] = (id, change) => changeBgpPeer(this.#context, id, change)
  deleteBgpPeer: Admission['deleteBgpPeer'] = (id) => deleteBgpPeer(this.#context, id)
  createBgpAdvertisement: Admission['createBgpAdvertisement'] = (draft) => createBgpAdvertisement(this.#context, draft)
  changeBgpAdvertisement: Admission['changeBgpAdvertisement'] = (id, change) =>
    changeBgpAdvertisement(this.#context, id, change)
  deleteBgpAdvertisement: Admission['deleteBgpAdvertisement'] = (id) => deleteBgpAdvertisement(this.#context, id)

  createCertificate: Admission['createCertificate'] = (draft) => createCertificate(this.#context, draft)
  changeCertificate: Admission['changeCertificate'] = (id, change) => changeCertificate(this.#context, id, change)
  deleteCertificate: Admission['deleteCertificate'] = (id) => deleteCertificate(this.#context, id)
  openCertificate: Admission['openCertificate'] = (id) => openCertificate(this.#context, id)

  createCertificateOf: Admission['createCertificateOf'] = (originId, draft) =>
    createCertificate(this.#context, draft, originId)

  createSecret: Admission['createSecret'] = (draft) => createSecret(this.#context, draft)
  setPayload: Admission['setPayload'] = (id, payload) => setPayload(this.#context, id, payload)
  deleteSecret: Admission['deleteSecret'] = (id) => deleteSecret(this.#context, id)
  openSecret: Admission['openSecret'] = (id) => openSecret(this.#context, id)
  createSecretContainer: Admission['createSecretContainer'] = (draft) => createSecretContainer(this.#context, draft)
  changeSecretContainer: Admission['changeSecretContainer'] = (id, change) =>
    changeSecretContainer(this.#context, id, change)
  deleteSecretContainer: Admission['deleteSecretContainer'] = (id) => deleteSecretContainer(this.#context, id)

  createSecurityGroup: Admission['createSecurityGroup'] = (draft) => createSecurityGroup(this.#context, draft)
  changeSecurityGroup: Admission['changeSecurityGroup'] = (id, change) => changeSecurityGroup(this.#context, id, change)
  deleteSecurityGroup: Admission['deleteSecurityGroup'] = (id) => deleteSecurityGroup(this.#context, id)

  createEnrolmentToken: Admission['createEnrolmentToken'] = (draft) => createEnrolmentToken(this.#context, draft)
  enrolNode: Admission['enrolNode'] = (secret, certificateSha256, request = null) =>
    enrolNode(this.#context, secret, certificateSha256, request)
  enrolNamedNode: Admission['enrolNamedNode'] = (request, certificateSha256) =>
    enrolNamedNode(this.#context, request, certificateSha256)
  setNodeScheduling: Admission['setNodeScheduling'] = (id, scheduling) => changeNode(this.#context, id, { scheduling })
  changeNode: Admission['changeNode'] = (id, change) => changeNode(this.#context, id, change)
  deleteNode: Admission['deleteNode'] = (id) => deleteNode(this.#context, id)

  beginDrain: PlannedMoveAdmission['beginDrain'] = (...drain) => beginDrain(this.#context, ...drain)
  beginMove: PlannedMoveAdmission['beginMove'] = (...move) => beginMove(this.#context, ...move)

  quotaOf: Admission['quotaOf'] = (projectId) => ({
    limits: limitsOf(this.#context.view.get('quota', projectId)?.value.limits ?? {}, this.#context.defaultQuota),
    used: this.#context.index.usage(projectId),
  })
  classQuotasOf: Admission['classQuotasOf'] = (projectId) => classQuotasOf(this.#context, projectId)

  ensureNodeAddresses(): Promise<void> {
    return this.#ensuring.run(() => ensureNodeAddresses(this.#context))
  }

  ensureSharedAddresses(networkId: string): Promise<void> {
    return this.#ensuring.run(() => ensureSharedAddresses(this.#context, networkId))
  }

  sharedAddresses(networkId: string): ReadonlyMap<string, string> {
    return this.nodeAddresses(networkId, networkId)
  }

  /** Seals anew what older sealing keys sealed. @returns how many certificates and secrets no key can open */
  sealAnew(): Promise<number> {
    return sealAnew(this.#context)
  }

  async seeFabricAddress(nodeId: string, address: string): Promise<void> {
    await seeFabricAddress(this.#context, nodeId, address)
  }

  nodeAddresses(networkId: string, nodeId: string): ReadonlyMap<string, string> {
    const { view, index } = this.#context
    const subnets = view.get('network', networkId)?.value.subnets ?? []
    return new Map(
      subnets.flatMap(({ id }) => {
        const address = index.nodeAddress(nodeId, id)
        return address === null ? [] : [[id, address.address] as const]
      }),
    )
  }
}
