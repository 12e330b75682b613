package com.github.tomakehurst.wiremock;

import com.github.tomakehurst.wiremock.client.HttpAdminClient;
import com.github.tomakehurst.wiremock.common.Notifier;
import com.github.tomakehurst.wiremock.extension.PostServeAction;
import com.github.tomakehurst.wiremock.stubbing.ServeEvent;
import com.github.tomakehurst.wiremock.stubbing.SubEvent;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;

/** Plays what happens inside a server of this process after each request, from the journal of another process. */
class JournalPoller {
  private final HttpAdminClient admin;
  private final Notifier notifier;
  private final List<PostServeAction> actions;
  private final Set<UUID> served = new HashSet<>();
  private final Map<UUID, Integer> told = new HashMap<>();

  JournalPoller(HttpAdminClient admin, Notifier notifier, List<PostServeAction> actions) {
    this.admin = admin;
    this.notifier = notifier;
    this.actions = actions;
  }

  /** Looks every 20 ms, for as long as the server lives. */
  void run(BooleanSupplier alive) {
    while (alive.getAsBoolean()) {
      try {
        List<ServeEvent> events = new ArrayList<>(admin.getServeEvents().getRequests());
        Collections.reverse(events);
        events.forEach(this::play);
        Thread.sleep(20);
      } catch (Exception e) {
        if (!alive.getAsBoolean()) return;
      }
    }
  }

  private void play(ServeEvent event) {
    if (served.add(event.getId())) actions.forEach(action -> action.doGlobalAction(event, admin));
    List<SubEvent> events = new ArrayList<>(event.getSubEvents());
    int from = told.getOrDefault(event.getId(), 0);
    if (from < events.size()) events.subList(from, events.size()).forEach(sub -> tell(sub, events));
    told.put(event.getId(), events.size());
  }

  /** What WireMock's webhooks say of themselves, of what the journal holds of them. */
  private void tell(SubEvent event, List<SubEvent> all) {
    switch (event.getType()) {
      case "WEBHOOK_RESPONSE":
        SubEvent request =
            all.stream().filter(sub -> sub.getType().equals("WEBHOOK_REQUEST")).findFirst().get();
        notifier.info(
            String.format(
                "Webhook %s request to %s returned status %s",
                request.getData().get("method"),
                request.getData().get("absoluteUrl"),
                event.getData().get("status")));
        break;
      case "ERROR":
        notifier.error(String.valueOf(event.getData().get("message")));
        break;
      default:
    }
  }
}
