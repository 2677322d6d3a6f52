"""The ledger's tables, and the one row that names this installation."""

import dashboard.clock
import dashboard.ledger.models.feed
import dashboard.ledger.models.objects
import django.db.models.deletion
import secrets
from typing import Any
from django.conf import settings
from django.db import migrations, models


def create_installation(apps: Any, schema_editor: Any) -> None:
    apps.get_model("ledger", "Installation").objects.get_or_create(pk=1)


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('approvals', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='DeviationRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('operation', models.CharField(max_length=64)),
                ('kind', models.CharField(max_length=64)),
                ('place', models.CharField(max_length=200)),
                ('message', models.CharField(max_length=200)),
                ('example', models.TextField()),
                ('count', models.PositiveBigIntegerField(default=1)),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-last_at', '-pk'],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='FeedEntry',
            fields=[
                ('seq', models.BigAutoField(primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('page', 'Page'), ('audience', 'Audience'), ('operation', 'Operation'), ('release', 'Release'), ('approval', 'Approval'), ('subscription', 'Subscription'), ('receiver', 'Receiver'), ('notification', 'Notification'), ('target', 'Target'), ('saved_view', 'Saved View'), ('presence', 'Presence'), ('comment', 'Comment'), ('service', 'Service')], max_length=16)),
                ('page_id', models.TextField(blank=True)),
                ('audience_id', models.TextField(blank=True)),
                ('object_id', models.TextField(blank=True)),
                ('user_id', models.BigIntegerField(null=True)),
                ('actor_id', models.BigIntegerField(null=True)),
                ('at', models.DateTimeField(default=dashboard.clock.now)),
                ('transaction', models.BigIntegerField(db_default=dashboard.ledger.models.feed.TransactionNumber(), null=True)),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('transaction__isnull', False)), fields=['transaction'], name='feed_by_transaction')],
            },
        ),
        migrations.CreateModel(
            name='Installation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('nonce', models.CharField(default=secrets.token_hex, max_length=64)),
                ('restored_at', models.DateTimeField(null=True)),
                ('feed_pruned_to', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='ServiceState',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('began_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('failed_at', models.DateTimeField(null=True)),
                ('reason', models.TextField(blank=True)),
                ('responded_at', models.DateTimeField(null=True)),
                ('is_reported', models.BooleanField(default=False)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ListTotal',
            fields=[
                ('list_name', models.CharField(max_length=32, primary_key=True, serialize=False)),
                ('total_count', models.BigIntegerField()),
                ('seen_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='AudienceRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('body', models.TextField()),
                ('digest', models.CharField(max_length=32)),
                ('first_seen_at', models.DateTimeField()),
                ('last_seen_at', models.DateTimeField()),
                ('changed_at', models.DateTimeField()),
                ('page_id', models.TextField()),
                ('audience_id', models.TextField()),
                ('name', models.TextField(blank=True)),
                ('prospect_id', models.TextField(blank=True)),
                ('latest_version_id', models.TextField(blank=True)),
                ('latest_version_number', models.BigIntegerField(null=True)),
                ('latest_status', models.TextField(blank=True)),
                ('in_progress_since', models.DateTimeField(null=True)),
                ('live_version_id', models.TextField(blank=True)),
                ('live_version_number', models.BigIntegerField(null=True)),
                ('archived', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(null=True)),
                ('live_status', models.CharField(blank=True, max_length=16)),
                ('new_page_agent', models.CharField(blank=True, max_length=3)),
                ('updated_at', models.DateTimeField(null=True)),
                ('searched', models.TextField(db_default='', default='')),
                ('assignee', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['latest_status'], name='ledger_audi_latest__55738c_idx'), models.Index(fields=['audience_id'], name='ledger_audi_audienc_3f937c_idx'), models.Index(fields=['prospect_id'], name='ledger_audi_prospec_a17cd6_idx'), dashboard.ledger.models.objects.IndexOfSQLite(fields=['searched', 'archived'], name='audiences_searched'), models.Index(fields=['-updated_at', '-id'], name='ledger_audi_updated_0ab866_idx'), models.Index(fields=['name'], name='ledger_audi_name_bcb49b_idx'), models.Index(fields=['last_seen_at'], name='ledger_audi_last_se_7e6b5e_idx'), models.Index(fields=['live_status', 'latest_status', 'new_page_agent'], name='ledger_audi_live_st_c73bc9_idx'), dashboard.ledger.models.objects.IndexOfSQLite(fields=['live_status', 'latest_status', 'new_page_agent', 'page_id', 'searched'], name='audiences_narrowed'), models.Index(fields=['first_seen_at'], name='ledger_audi_first_s_105569_idx'), models.Index(fields=['changed_at'], name='ledger_audi_changed_0cac5f_idx'), models.Index(fields=['page_id', 'live_status', 'latest_status'], name='ledger_audi_page_id_6d8c4b_idx')],
                'constraints': [models.UniqueConstraint(fields=('page_id', 'audience_id'), name='one_audience_a_page')],
            },
        ),
        migrations.CreateModel(
            name='Crawl',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('wake_at', models.DateTimeField(null=True)),
                ('worker_id', models.CharField(blank=True, max_length=64)),
                ('state', models.CharField(choices=[('waiting', 'Not started'), ('running', 'In progress'), ('finished', 'Finished'), ('failed', 'Failed')], default='waiting', max_length=16)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('checkpoint', models.JSONField(default=dict)),
                ('pages', models.BigIntegerField(default=0)),
                ('pages_in_all', models.BigIntegerField(null=True)),
                ('audiences', models.BigIntegerField(default=0)),
                ('calls', models.BigIntegerField(default=0)),
                ('problems', models.BigIntegerField(default=0)),
                ('last_problem', models.TextField(blank=True)),
                ('pause_reason', models.TextField(blank=True)),
                ('failure', models.TextField(blank=True)),
                ('calls_per_second', models.FloatField(null=True)),
                ('speed', models.TextField(blank=True)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Operation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('operation_key', models.CharField(max_length=128, unique=True)),
                ('kind', models.CharField(choices=[('publish_version', 'Publish version'), ('create_page', 'Create page'), ('update_subscription', 'Update webhook')], max_length=32)),
                ('outcome', models.CharField(choices=[('sending', 'In progress'), ('accepted', 'Accepted'), ('rejected', 'Failed'), ('unknown', 'Outcome unknown'), ('not_sent', 'Not sent')], default='sending', max_length=16)),
                ('actor_name', models.CharField(max_length=200)),
                ('page_id', models.TextField(blank=True)),
                ('audience_id', models.TextField(blank=True)),
                ('version_id', models.TextField(blank=True)),
                ('version_number', models.BigIntegerField(null=True)),
                ('subscription_id', models.TextField(blank=True)),
                ('target_name', models.TextField(blank=True)),
                ('rolled_back_id', models.TextField(blank=True)),
                ('rolled_back_number', models.BigIntegerField(null=True)),
                ('requested_at', models.DateTimeField()),
                ('settled_at', models.DateTimeField(null=True)),
                ('changed_at', models.DateTimeField(default=dashboard.clock.now)),
                ('body_sent', models.JSONField(null=True)),
                ('before', models.JSONField(null=True)),
                ('checked_at', models.DateTimeField(null=True)),
                ('check_result', models.TextField(blank=True)),
                ('emergency_reason', models.TextField(blank=True)),
                ('reason', models.CharField(blank=True, choices=[('publish', 'Published'), ('release', 'Release'), ('rollback', 'Rollback'), ('emergency', 'Emergency publish'), ('outside', 'Published outside Pressroom'), ('first_seen', 'First seen'), ('after_restore', 'First seen after a restore'), ('seen_again', 'Seen again')], max_length=16)),
                ('note', models.TextField(blank=True)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('approval', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='operations', to='approvals.approvalrequest')),
            ],
            options={
                'ordering': ['-requested_at', '-pk'],
                'permissions': [('publish_version', 'Can publish versions'), ('create_page', 'Can create pages'), ('update_subscription', 'Can change webhook subscriptions')],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Publication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page_id', models.TextField()),
                ('audience_id', models.TextField()),
                ('version_id', models.TextField()),
                ('version_number', models.BigIntegerField()),
                ('page_name', models.TextField(blank=True)),
                ('audience_name', models.TextField(blank=True)),
                ('published_at', models.DateTimeField(null=True)),
                ('started_at', models.DateTimeField()),
                ('is_start_seen', models.BooleanField(default=False)),
                ('seen_at', models.DateTimeField()),
                ('last_seen_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('is_end_seen', models.BooleanField(default=False)),
                ('reason', models.CharField(choices=[('publish', 'Published'), ('release', 'Release'), ('rollback', 'Rollback'), ('emergency', 'Emergency publish'), ('outside', 'Published outside Pressroom'), ('first_seen', 'First seen'), ('after_restore', 'First seen after a restore'), ('seen_again', 'Seen again')], max_length=16)),
                ('actor_name', models.TextField(blank=True)),
                ('note', models.TextField(blank=True)),
                ('operation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='publications', to='ledger.operation')),
            ],
            options={
                'ordering': ['started_at', 'pk'],
                'default_permissions': (),
                'indexes': [models.Index(fields=['page_id', 'audience_id', 'started_at'], name='ledger_publ_page_id_1aea1e_idx'), models.Index(fields=['started_at'], name='ledger_publ_started_a39b76_idx'), models.Index(fields=['reason', '-seen_at', '-id'], name='ledger_publ_reason_f84d8b_idx')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('page_id', 'audience_id'), name='one_live_publication_an_audience')],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('actor_name', models.CharField(max_length=200)),
                ('sent_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
                ('outcome', models.CharField(choices=[('sending', 'In progress'), ('accepted', 'Accepted'), ('rejected', 'Failed'), ('unknown', 'Outcome unknown'), ('not_sent', 'Not sent')], default='sending', max_length=16)),
                ('status_code', models.PositiveIntegerField(null=True)),
                ('message', models.TextField(blank=True)),
                ('response_body', models.TextField(blank=True)),
                ('digest', models.CharField(blank=True, max_length=64)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('operation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='ledger.operation')),
            ],
            options={
                'ordering': ['number'],
            },
        ),
        migrations.CreateModel(
            name='PageRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('body', models.TextField()),
                ('digest', models.CharField(max_length=32)),
                ('first_seen_at', models.DateTimeField()),
                ('last_seen_at', models.DateTimeField()),
                ('changed_at', models.DateTimeField()),
                ('page_id', models.TextField(unique=True)),
                ('name', models.TextField()),
                ('title', models.TextField()),
                ('status', models.TextField(blank=True)),
                ('page_type', models.TextField(blank=True)),
                ('brand_id', models.TextField()),
                ('audiences_count', models.BigIntegerField()),
                ('audiences_count_read', models.BigIntegerField(null=True)),
                ('created_at', models.DateTimeField(null=True)),
                ('updated_at', models.DateTimeField(null=True)),
                ('searched', models.TextField(db_default='', default='')),
                ('any_live', models.BooleanField(db_default=False, default=False)),
                ('any_not_live', models.BooleanField(db_default=False, default=False)),
                ('any_changed', models.BooleanField(db_default=False, default=False)),
                ('any_rolled_back', models.BooleanField(db_default=False, default=False)),
                ('any_in_flight', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'indexes': [models.Index(fields=['-updated_at', '-id'], name='ledger_page_updated_6c42be_idx'), models.Index(fields=['name'], name='ledger_page_name_3bf059_idx'), models.Index(fields=['status', 'page_type', 'last_seen_at', 'first_seen_at', 'changed_at', 'audiences_count'], name='ledger_page_status_bec2d0_idx'), models.Index(fields=['status', 'page_type'], name='ledger_page_status_4dfc1c_idx'), dashboard.ledger.models.objects.IndexOfSQLite(fields=['status', 'page_type', 'searched', 'any_live', 'any_not_live', 'any_changed', 'any_rolled_back', 'any_in_flight'], name='pages_narrowed'), models.Index(fields=['last_seen_at'], name='ledger_page_last_se_7abfbb_idx'), models.Index(fields=['audiences_count_read', 'audiences_count'], name='ledger_page_audienc_362089_idx')],
            },
        ),
        migrations.CreateModel(
            name='SubscriptionRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('body', models.TextField()),
                ('digest', models.CharField(max_length=32)),
                ('first_seen_at', models.DateTimeField()),
                ('last_seen_at', models.DateTimeField()),
                ('changed_at', models.DateTimeField()),
                ('subscription_id', models.TextField(unique=True)),
                ('label', models.CharField(blank=True, max_length=120)),
                ('url', models.TextField()),
                ('active', models.BooleanField()),
                ('added_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['label', 'subscription_id'],
            },
        ),
        migrations.CreateModel(
            name='VersionRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page_id', models.TextField()),
                ('audience_id', models.TextField()),
                ('version_id', models.TextField()),
                ('version_number', models.BigIntegerField()),
                ('status', models.TextField()),
                ('body', models.TextField()),
                ('first_seen_at', models.DateTimeField()),
                ('last_seen_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['page_id', 'audience_id', '-version_number'], name='ledger_vers_page_id_95c098_idx'), models.Index(fields=['version_id'], name='ledger_vers_version_21eb78_idx'), models.Index(fields=['-last_seen_at'], name='ledger_vers_last_se_26131c_idx'), dashboard.ledger.models.objects.IndexOfSQLite(fields=['status', '-last_seen_at'], name='versions_in_flight')],
                'constraints': [models.UniqueConstraint(fields=('page_id', 'audience_id', 'version_id'), name='one_version_an_audience')],
            },
        ),
        migrations.AddIndex(
            model_name='operation',
            index=models.Index(fields=['-requested_at'], name='ledger_oper_request_509d4f_idx'),
        ),
        migrations.AddIndex(
            model_name='operation',
            index=models.Index(fields=['changed_at'], name='ledger_oper_changed_bc5c52_idx'),
        ),
        migrations.AddIndex(
            model_name='operation',
            index=models.Index(fields=['outcome', '-requested_at'], name='ledger_oper_outcome_a398a1_idx'),
        ),
        migrations.AddIndex(
            model_name='operation',
            index=models.Index(fields=['page_id', 'audience_id', 'version_id', '-requested_at'], name='ledger_oper_page_id_13a197_idx'),
        ),
        migrations.AddIndex(
            model_name='operation',
            index=models.Index(fields=['subscription_id'], name='ledger_oper_subscri_27ad33_idx'),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(fields=['outcome', 'sent_at'], name='ledger_atte_outcome_4420f4_idx'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(fields=('operation', 'number'), name='one_attempt_a_number'),
        ),
        migrations.RunPython(create_installation, migrations.RunPython.noop),
    ]
