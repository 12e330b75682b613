package com.github.tomakehurst.wiremock;

import com.github.tomakehurst.wiremock.admin.model.GetGlobalSettingsResult;
import com.github.tomakehurst.wiremock.admin.model.GetScenariosResult;
import com.github.tomakehurst.wiremock.admin.model.GetServeEventsResult;
import com.github.tomakehurst.wiremock.admin.model.ListStubMappingsResult;
import com.github.tomakehurst.wiremock.admin.model.ServeEventQuery;
import com.github.tomakehurst.wiremock.admin.model.SingleServedStubResult;
import com.github.tomakehurst.wiremock.admin.model.SingleStubMappingResult;
import com.github.tomakehurst.wiremock.client.CountMatchingStrategy;
import com.github.tomakehurst.wiremock.client.MappingBuilder;
import com.github.tomakehurst.wiremock.client.WireMock;
import com.github.tomakehurst.wiremock.core.Admin;
import com.github.tomakehurst.wiremock.global.GlobalSettings;
import com.github.tomakehurst.wiremock.junit.Stubbing;
import com.github.tomakehurst.wiremock.matching.RequestPattern;
import com.github.tomakehurst.wiremock.matching.RequestPatternBuilder;
import com.github.tomakehurst.wiremock.matching.StringValuePattern;
import com.github.tomakehurst.wiremock.recording.RecordSpec;
import com.github.tomakehurst.wiremock.recording.RecordSpecBuilder;
import com.github.tomakehurst.wiremock.recording.RecordingStatusResult;
import com.github.tomakehurst.wiremock.recording.SnapshotRecordResult;
import com.github.tomakehurst.wiremock.stubbing.ServeEvent;
import com.github.tomakehurst.wiremock.stubbing.StubImport;
import com.github.tomakehurst.wiremock.stubbing.StubMapping;
import com.github.tomakehurst.wiremock.verification.FindNearMissesResult;
import com.github.tomakehurst.wiremock.verification.FindRequestsResult;
import com.github.tomakehurst.wiremock.verification.FindServeEventsResult;
import com.github.tomakehurst.wiremock.verification.LoggedRequest;
import com.github.tomakehurst.wiremock.verification.NearMiss;
import com.github.tomakehurst.wiremock.verification.VerificationResult;
import java.util.List;
import java.util.UUID;

/** The methods of a server that are calls of its admin API, each handed on. */
abstract class DelegatingServer implements Admin, Stubbing {
  /** Calls the admin API. */
  abstract Admin admin();

  /** Calls it in the words of the DSL. */
  abstract WireMock client();

  @Override
  public void addStubMapping(StubMapping a) {
    admin().addStubMapping(a);
  }

  @Override
  public VerificationResult countRequestsMatching(RequestPattern a) {
    return admin().countRequestsMatching(a);
  }

  @Override
  public void editStubMapping(StubMapping a) {
    admin().editStubMapping(a);
  }

  @Override
  public ListStubMappingsResult findAllStubsByMetadata(StringValuePattern a) {
    return admin().findAllStubsByMetadata(a);
  }

  @Override
  public FindNearMissesResult findNearMissesForUnmatchedRequests() {
    return admin().findNearMissesForUnmatchedRequests();
  }

  @Override
  public FindRequestsResult findRequestsMatching(RequestPattern a) {
    return admin().findRequestsMatching(a);
  }

  @Override
  public FindNearMissesResult findTopNearMissesFor(RequestPattern a) {
    return admin().findTopNearMissesFor(a);
  }

  @Override
  public FindNearMissesResult findTopNearMissesFor(LoggedRequest a) {
    return admin().findTopNearMissesFor(a);
  }

  @Override
  public FindRequestsResult findUnmatchedRequests() {
    return admin().findUnmatchedRequests();
  }

  @Override
  public ListStubMappingsResult findUnmatchedStubs() {
    return admin().findUnmatchedStubs();
  }

  @Override
  public GetScenariosResult getAllScenarios() {
    return admin().getAllScenarios();
  }

  @Override
  public GetGlobalSettingsResult getGlobalSettings() {
    return admin().getGlobalSettings();
  }

  @Override
  public RecordingStatusResult getRecordingStatus() {
    return admin().getRecordingStatus();
  }

  @Override
  public GetServeEventsResult getServeEvents() {
    return admin().getServeEvents();
  }

  @Override
  public GetServeEventsResult getServeEvents(ServeEventQuery a) {
    return admin().getServeEvents(a);
  }

  @Override
  public SingleServedStubResult getServedStub(UUID a) {
    return admin().getServedStub(a);
  }

  @Override
  public SingleStubMappingResult getStubMapping(UUID a) {
    return admin().getStubMapping(a);
  }

  @Override
  public void importStubs(StubImport a) {
    admin().importStubs(a);
  }

  @Override
  public ListStubMappingsResult listAllStubMappings() {
    return admin().listAllStubMappings();
  }

  @Override
  public void removeServeEvent(UUID a) {
    admin().removeServeEvent(a);
  }

  @Override
  public FindServeEventsResult removeServeEventsForStubsMatchingMetadata(StringValuePattern a) {
    return admin().removeServeEventsForStubsMatchingMetadata(a);
  }

  @Override
  public FindServeEventsResult removeServeEventsMatching(RequestPattern a) {
    return admin().removeServeEventsMatching(a);
  }

  @Override
  public void removeStubMapping(StubMapping a) {
    admin().removeStubMapping(a);
  }

  @Override
  public void removeStubMapping(UUID a) {
    admin().removeStubMapping(a);
  }

  @Override
  public void removeStubsByMetadata(StringValuePattern a) {
    admin().removeStubsByMetadata(a);
  }

  @Override
  public void resetAll() {
    admin().resetAll();
  }

  @Override
  public void resetMappings() {
    admin().resetMappings();
  }

  @Override
  public void resetRequests() {
    admin().resetRequests();
  }

  @Override
  public void resetScenario(String a) {
    admin().resetScenario(a);
  }

  @Override
  public void resetScenarios() {
    admin().resetScenarios();
  }

  @Override
  public void resetToDefaultMappings() {
    admin().resetToDefaultMappings();
  }

  @Override
  public void saveMappings() {
    admin().saveMappings();
  }

  @Override
  public void setScenarioState(String a, String b) {
    admin().setScenarioState(a, b);
  }

  @Override
  public SnapshotRecordResult snapshotRecord() {
    return admin().snapshotRecord();
  }

  @Override
  public SnapshotRecordResult snapshotRecord(RecordSpec a) {
    return admin().snapshotRecord(a);
  }

  @Override
  public SnapshotRecordResult snapshotRecord(RecordSpecBuilder a) {
    return admin().snapshotRecord(a);
  }

  @Override
  public void startRecording(RecordSpec a) {
    admin().startRecording(a);
  }

  @Override
  public void startRecording(RecordSpecBuilder a) {
    admin().startRecording(a);
  }

  @Override
  public void startRecording(String a) {
    admin().startRecording(a);
  }

  @Override
  public SnapshotRecordResult stopRecording() {
    return admin().stopRecording();
  }

  @Override
  public void updateGlobalSettings(GlobalSettings a) {
    admin().updateGlobalSettings(a);
  }

  @Override
  public void editStub(MappingBuilder a) {
    client().editStubMapping(a);
  }

  @Override
  public StubMapping givenThat(MappingBuilder a) {
    return client().register(a);
  }

  @Override
  public StubMapping stubFor(MappingBuilder a) {
    return client().register(a);
  }

  @Override
  public void removeStub(MappingBuilder a) {
    client().removeStubMapping(a);
  }

  @Override
  public void removeStub(StubMapping a) {
    client().removeStubMapping(a);
  }

  @Override
  public void removeStub(UUID a) {
    client().removeStubMapping(a);
  }

  @Override
  public List<LoggedRequest> findAll(RequestPatternBuilder a) {
    return client().find(a);
  }

  @Override
  public List<NearMiss> findAllNearMissesFor(RequestPatternBuilder a) {
    return client().findAllNearMissesFor(a);
  }

  @Override
  public List<LoggedRequest> findAllUnmatchedRequests() {
    return client().findAllUnmatchedRequests();
  }

  @Override
  public List<NearMiss> findNearMissesFor(LoggedRequest a) {
    return client().findTopNearMissesFor(a);
  }

  @Override
  public List<NearMiss> findNearMissesForAllUnmatchedRequests() {
    return client().findNearMissesForAllUnmatchedRequests();
  }

  @Override
  public List<StubMapping> findStubMappingsByMetadata(StringValuePattern a) {
    return client().findAllStubsByMetadata(a);
  }

  @Override
  public void removeStubMappingsByMetadata(StringValuePattern a) {
    client().removeStubsByMetadataPattern(a);
  }

  @Override
  public List<ServeEvent> getAllServeEvents() {
    return client().getServeEvents();
  }

  @Override
  public StubMapping getSingleStubMapping(UUID a) {
    return client().getStubMapping(a).getItem();
  }

  @Override
  public List<StubMapping> getStubMappings() {
    return client().allStubMappings().getMappings();
  }

  @Override
  public void setGlobalFixedDelay(int a) {
    client().setGlobalFixedDelayVariable(a);
  }

  @Override
  public void verify(RequestPatternBuilder a) {
    client().verifyThat(a);
  }

  @Override
  public void verify(int a, RequestPatternBuilder b) {
    client().verifyThat(a, b);
  }

  @Override
  public void verify(CountMatchingStrategy a, RequestPatternBuilder b) {
    client().verifyThat(a, b);
  }
}
