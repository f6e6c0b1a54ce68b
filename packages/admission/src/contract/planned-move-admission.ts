/** Writes that planned moves of addresses have begun. After a restart a move that has begun does not wait again. */
export interface PlannedMoveAdmission {
  /**
   * Stores that the drain of a node has begun. It writes nothing if the node was told something else since, or if this is
   * stored already.
   * @param drainedSince which drain: the node's `drainedSince`
   * @throws SpoutError NotFound
   */
  beginDrain(nodeId: string, drainedSince: string): Promise<void>
  /**
   * Stores that the requested move of a shard has begun. It writes nothing if other moves were requested since, or if this
   * is stored already.
   * @param askedAt which request: the `askedAt` of the group's `rebalance`
   * @throws SpoutError NotFound
   */
  beginMove(nodeGroupId: string, askedAt: string, shard: number): Promise<void>
}
