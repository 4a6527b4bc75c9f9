/**
 * An ordered set with O(1) snapshots: the host's copy of a context's collection.
 *
 * A sequence is a list of frozen runs, which it may share with other sequences, and its own tail. Changes to the
 * frozen part are kept as separate patches, so a dispatch that starts from a long history copies nothing.
 */

/** A frozen list of items that sequences share. */
export interface Run<T> {
  /** Places in the run, including empty ones. */
  readonly length: number;
  /** The item in a place, or undefined if the place is empty. */
  at(index: number): T | undefined;
  /** The place of an item, or -1. */
  indexOf(item: T): number;
}

/** A run with its own items. It can change while it is a sequence's tail. */
class ItemsRun<T> implements Run<T> {
  readonly items: (T | undefined)[];
  /** Places that are not empty. */
  live: number;
  /** Built at the first lookup of an item's place: appending never needs it. */
  #index: Map<T, number> | undefined;

  /** @param items none of them empty */
  constructor(items: (T | undefined)[]) {
    this.items = items;
    this.live = items.length;
  }

  get length(): number {
    return this.items.length;
  }

  at(index: number): T | undefined {
    return this.items[index];
  }

  indexOf(item: T): number {
    if (this.items.length === 0) return -1;
    return this.#places().get(item) ?? -1;
  }

  push(item: T): void {
    this.#index?.set(item, this.items.length);
    this.items.push(item);
    this.live++;
  }

  set(index: number, item: T | undefined): void {
    const places = this.#places();
    const old = this.items[index];
    if (old !== undefined) {
      places.delete(old);
      this.live--;
    }
    if (item !== undefined) {
      places.set(item, index);
      this.live++;
    }
    this.items[index] = item;
  }

  #places(): Map<T, number> {
    let places = this.#index;
    if (places === undefined) {
      places = new Map();
      for (let i = 0; i < this.items.length; i++) {
        const item = this.items[i];
        if (item !== undefined) places.set(item, i);
      }
      this.#index = places;
    }
    return places;
  }
}

/** Changes to a frozen run: the new item of a place, null for none. */
class Patches<T> {
  readonly byPlace: Map<number, T | null>;
  readonly byItem: Map<T, number>;

  constructor(other?: Patches<T>) {
    this.byPlace = new Map(other?.byPlace);
    this.byItem = new Map(other?.byItem);
  }

  put(place: number, item: T | null): void {
    const old = this.byPlace.get(place);
    if (old !== undefined && old !== null) this.byItem.delete(old);
    this.byPlace.set(place, item);
    if (item !== null) this.byItem.set(item, place);
  }
}

/** A frozen run with this sequence's patches. */
class Slot<T> {
  readonly run: Run<T>;
  patches: Patches<T> | undefined;
  /** Another sequence has the same patches: they are copied before they change. */
  shared = false;

  constructor(run: Run<T>, patches?: Patches<T>) {
    this.run = run;
    this.patches = patches;
  }

  at(place: number): T | undefined {
    const patch = this.patches?.byPlace.get(place);
    if (patch !== undefined) return patch ?? undefined;
    return this.run.at(place);
  }

  indexOf(item: T): number {
    const place = this.run.indexOf(item);
    const patches = this.patches;
    if (patches === undefined) return place;
    if (place >= 0 && !patches.byPlace.has(place)) return place;
    return patches.byItem.get(item) ?? -1;
  }

  put(place: number, item: T | null): void {
    if (this.patches === undefined) this.patches = new Patches();
    else if (this.shared) this.patches = new Patches(this.patches);
    this.shared = false;
    this.patches.put(place, item);
  }

  fork(): Slot<T> {
    const copy = new Slot(this.run, this.patches);
    if (this.patches !== undefined) {
      this.shared = true;
      copy.shared = true;
    }
    return copy;
  }

  /** Appends the slot's items to a list. */
  collect(into: (T | undefined)[]): void {
    for (let i = 0; i < this.run.length; i++) {
      const item = this.at(i);
      if (item !== undefined) into.push(item);
    }
  }
}

/** The tail is packed when it has more empty places than items, and at least this many. */
const MIN_PACKED = 32;

/** An ordered set by object identity. {@link fork} is O(1); so is {@link pushRun}. */
export class Sequence<T> implements Iterable<T> {
  #slots: Slot<T>[] = [];
  #tail = new ItemsRun<T>([]);
  #size = 0;
  // The result of #find: a slot's number, or -1 for the tail, and the place in it.
  #foundSlot = -1;
  #foundPlace = -1;

  /** The number of items. */
  get size(): number {
    return this.#size;
  }

  /** Whether an item is in it. */
  has(item: T): boolean {
    return this.#find(item);
  }

  /** Appends an item that the caller knows is not in it. */
  push(item: T): void {
    this.#tail.push(item);
    this.#size++;
  }

  /** Appends a frozen run whose items the caller knows are not in it. */
  pushRun(run: Run<T>): void {
    if (run.length === 0) return;
    this.#freezeTail();
    this.#slots.push(new Slot(run));
    this.#size += run.length;
  }

  /** Removes an item. Returns whether it was there. */
  remove(item: T): boolean {
    if (!this.#find(item)) return false;
    this.#put(null);
    this.#size--;
    if (this.#foundSlot < 0) this.#packTail();
    return true;
  }

  /** Replaces an item by another. Returns whether the first was there. */
  replace(old: T, item: T): boolean {
    if (!this.has(old)) return false;
    if (old === item) return true;
    this.remove(item);
    this.#find(old);
    this.#put(item);
    return true;
  }

  /** Inserts an item before another, or at the end if the other is absent. Copies the whole sequence. */
  insertBefore(item: T, before: T | undefined): void {
    this.remove(item);
    if (before === undefined || !this.has(before)) {
      this.push(item);
      return;
    }
    const items: (T | undefined)[] = [];
    for (const each of this) {
      if (each === before) items.push(item);
      items.push(each);
    }
    this.#slots = [];
    this.#tail = new ItemsRun(items);
    this.#size = items.length;
  }

  /** Removes everything. */
  clear(): void {
    this.#slots = [];
    this.#tail = new ItemsRun<T>([]);
    this.#size = 0;
  }

  /** An independent sequence of the same items. */
  fork(): Sequence<T> {
    this.#freezeTail();
    const copy = new Sequence<T>();
    copy.#slots = this.#slots.map((slot) => slot.fork());
    copy.#size = this.#size;
    return copy;
  }

  /**
   * The items in order. Items added while it is iterated are seen, as with a Set.
   */
  *[Symbol.iterator](): IterableIterator<T> {
    const slots = this.#slots;
    const tail = this.#tail;
    for (const slot of slots) {
      const length = slot.run.length;
      for (let i = 0; i < length; i++) {
        const item = slot.at(i);
        if (item !== undefined) yield item;
      }
    }
    for (const item of tail.items) {
      if (item !== undefined) yield item;
    }
  }

  #find(item: T): boolean {
    const place = this.#tail.indexOf(item);
    if (place >= 0) {
      this.#foundSlot = -1;
      this.#foundPlace = place;
      return true;
    }
    for (let s = this.#slots.length - 1; s >= 0; s--) {
      const at = this.#slots[s]!.indexOf(item);
      if (at >= 0) {
        this.#foundSlot = s;
        this.#foundPlace = at;
        return true;
      }
    }
    return false;
  }

  /** Changes the place found by #find. */
  #put(item: T | null): void {
    if (this.#foundSlot < 0) this.#tail.set(this.#foundPlace, item ?? undefined);
    else this.#slots[this.#foundSlot]!.put(this.#foundPlace, item);
  }

  #packTail(): void {
    const tail = this.#tail;
    if (tail.length < MIN_PACKED || tail.live * 2 >= tail.length) return;
    this.#tail = new ItemsRun(tail.items.filter((item) => item !== undefined));
  }

  /**
   * Makes the tail a frozen run. A run that is not much longer than the runs behind it is joined with them, so the
   * number of runs grows with the logarithm of the length, and every item is copied at most that many times.
   */
  #freezeTail(): void {
    if (this.#tail.length === 0) return;
    const slots = this.#slots.slice();
    let last = new Slot<T>(this.#tail);
    for (;;) {
      const previous = slots.at(-1);
      if (!(previous?.run instanceof ItemsRun) || previous.run.length > 2 * last.run.length) break;
      const items: (T | undefined)[] = [];
      previous.collect(items);
      last.collect(items);
      last = new Slot<T>(new ItemsRun(items));
      slots.pop();
    }
    slots.push(last);
    this.#slots = slots;
    this.#tail = new ItemsRun<T>([]);
  }
}
