/**
 * Named meeting points: processes of one test run wait for each other here
 * instead of sleeping.
 */
export class MeetingPoints {
  #points = new Map();

  #point(name) {
    let point = this.#points.get(name);
    if (point === undefined) {
      let open;
      const opened = new Promise((resolve) => (open = resolve));
      point = { arrived: 0, opened, open };
      this.#points.set(name, point);
    }
    return point;
  }

  /** Resolves once `count` callers have arrived at `name`. */
  arrive(name, count) {
    const point = this.#point(name);
    point.arrived += 1;
    if (point.arrived >= count) point.open();
    return point.opened;
  }
}
